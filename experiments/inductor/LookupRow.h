// Kernelwright
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// One row of the lookup table: the keyword arguments of Inductor's Triton template. [inductor.md
// 2.3] Whatever is not exactly such a row is refused, because Inductor pastes unknown fields into
// source and takes EVEN_K at its word.
#pragma once

#include "experiments/inductor/LookupKey.h"
#include "ir/Schedule.h"

#include <nlohmann/json.hpp>
#include <string>
#include <string_view>

namespace kw {

/// Keys sorted. `boundTorch` empty: without template_hash.
nlohmann::json lookupRow(const InductorCall &call, const TritonGemmSchedule &schedule,
                         std::string_view boundTorch);
/// The row that lets ATen compete.
nlohmann::json atenRow(const InductorCall &call);

/// What is wrong with a row in itself and for the sizes of its call; empty: nothing.
std::string rowLie(const InductorCall &call, const nlohmann::json &row, const Target &target,
                   std::string_view boundTorch);

/// The problem that a call computes; the error says what of its strides is no order of ours.
Expected<Problem> problemOf(const InductorCall &call);

/// SHA-256 of the source of an op's template in a torch version; empty: not known.
std::string_view templateHash(std::string_view torch, std::string_view op);
std::string knownTorchVersions();

} // namespace kw
