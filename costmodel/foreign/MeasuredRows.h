// Kernelwright
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// What was run in the rows of a published table: problem and kernel, and nothing that depends on
// how long it took. Times, rates, efficiencies, flags, result errors, how often a kernel won: none
// of them is a member of these types, so that no prediction can see them. They are read by
// MeasuredTimes.h, for judging only.
#pragma once

#include "costmodel/foreign/TextTable.h"

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace kw {

/// What a row tells of one kernel. Empty or nullopt: not told.
struct KernelText {
  std::string generator; ///< the table's word for whose it is: "ck", "asm_f4", "flydsl_hgemm", ...
  std::string name;
  std::optional<int> tileM, tileN, tileK;
  std::optional<int> threads; ///< of a workgroup
  std::optional<int> splitK;  ///< workgroups that share an output tile
};

struct GemmRow {
  std::int64_t m = 0, n = 0, k = 0, batch = 1;
  bool preshuffle = false, bias = false;
};

/// One stage, or (candidates aside) both.
struct MoeRow {
  std::int64_t tokens = 0, modelDim = 0, interDim = 0, experts = 0, topk = 0;
  std::string activation;
  bool gated = true;     ///< gate and up projection: the first stage has 2 x interDim columns
  int blockM = 0;        ///< rows that a sorted block of tokens is padded to; 0: not told
  bool oneStage = false; ///< one kernel does both products
  int stage = 0;         ///< 0: both; 1, 2: that one alone
};

struct AttentionRow {
  std::int64_t batch = 0, queryHeads = 0, keyHeads = 0, queries = 0, keys = 0, headDim = 0;
  bool causal = false;
};

enum class RowKind : std::uint8_t { gemm, moe, attention };

struct MeasuredRow {
  std::size_t number = 0; ///< data row of its file, from 1
  RowKind kind = RowKind::gemm;
  std::string op; ///< as the table says: "gemm", "bgemm", "attn_fwd", "moe", ...
  std::string gfx;
  int cus = 0; ///< 0: not told
  std::string typeA, typeB, typeOut, scale, layout;
  std::string timing; ///< how the table says that it was timed: kernel alone, whole operator, ...
  GemmRow gemm;
  MoeRow moe;
  AttentionRow attention;
  std::vector<KernelText> kernels; ///< in the order of launch
  std::string damage;              ///< why the row can't be read; empty: it can
};

/// ModelCase::family and ModelCase::group of the row.
std::string familyOf(const MeasuredRow &row);
std::string groupOf(const MeasuredRow &row);

/// Every data row of the table; those that can't be read say why. The error (bad input): columns
/// that belong to none of the known formats.
Expected<std::vector<MeasuredRow>> measuredRows(const TextTable &table);

} // namespace kw
