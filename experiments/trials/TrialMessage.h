// Kernelwright
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// What goes into `kw trial` and comes out of it, one JSON line each (CLI.md). A trial is
// idempotent: the same request gets the same answer, whichever process answers.
#pragma once

#include "experiments/support/Json.h"
#include "search/Trial.h"

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace kw {

/// What one trial may use; the pool enforces both from outside.
struct TrialLimits {
  double seconds = 300;      ///< wall clock
  std::int64_t memoryMb = 0; ///< address space, MiB; 0: unlimited
};

struct TrialRequest {
  std::string id; ///< JSON text of any value: it comes back as it was
  std::string problem, schedule, target = "gfx950";
  std::vector<Rung> rungs;
  std::uint64_t seed = 0; ///< of the inputs
  TrialLimits limits;
  /// Launch manifest of an earlier trial of the same schedule: later rungs need not compile again.
  std::string manifest;
};

struct TrialAnswer {
  std::string id;
  TrialState state = TrialState::ok;
  std::string error;
  Json rungs = Json::object(); ///< by rung name, the JSON of the command of that name
  std::string hsaco;           ///< file; empty: none
};

std::string printRequest(const TrialRequest &request);
Expected<TrialRequest> parseRequest(std::string_view line);
/// What answers a line that is no request: its `id` if there is one, else "null".
std::string requestId(std::string_view line);

std::string printAnswer(const TrialAnswer &answer);
Expected<TrialAnswer> parseAnswer(std::string_view line);

std::optional<Rung> parseRung(std::string_view text);
std::optional<TrialState> parseTrialState(std::string_view text);

} // namespace kw
