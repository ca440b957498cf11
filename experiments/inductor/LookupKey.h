// Kernelwright
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Keys of TorchInductor's GEMM lookup table: which call of Inductor a problem is, and the text
// under which the table holds it, `"+".join([DEVICE,] INPUTS [+ SCALARS], OP)`. [inductor.md 2.2]
#pragma once

#include "ir/Problem.h"
#include "ir/Target.h"

#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace kw {

/// An input as Inductor sees it: sizes and strides in elements.
struct KeyTensor {
  ElementType type = ElementType::bf16;
  std::vector<std::int64_t> sizes, strides;
  bool operator==(const KeyTensor &) const = default;
};

struct InductorCall {
  std::string op; ///< "mm", "addmm", "bmm", "baddbmm"
  std::vector<KeyTensor> inputs;
  /// Sorted by name; the value as Python prints it.
  std::vector<std::pair<std::string, std::string>> scalars;
  bool operator==(const InductorCall &) const = default;
};

/// The call that computes the problem, as `tritonCall` says. The error says what of it has none.
Expected<InductorCall> inductorCall(const Problem &problem);

/// `device` empty: the device-agnostic key.
std::string lookupKey(const InductorCall &call, std::string_view device);

struct ParsedKey {
  std::string device; ///< empty: agnostic
  InductorCall call;
};
/// The error says where the text stops being a key, and what is expected there.
Expected<ParsedKey> parseLookupKey(std::string_view key);

/// `gcnArchName` of the target's devices with the features that its driver reports by default.
std::string deviceKey(const Target &target);

/// torch.bfloat16; empty: a type that these calls don't have.
std::string_view torchName(ElementType type);

/// How Python prints a number that is an int where that is exact: 1, 0.5, 1e-05.
std::string pythonNumber(double value);

} // namespace kw
