// Kernelwright
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// What Inductor and Triton's AMD backend make of a GEMM and its decisions: the operation that
// Inductor calls, the matrix instruction and the waves' places, how each operand reaches LDS and
// how many bytes it takes there. Compared with compiled kernels: README.md.
//
// Sources: [T] Triton's AMD backend (matrix instruction, waves, padding of asynchronous copies);
// [C] kernels that Triton 3.6.0 to 3.9.0 compiled for gfx950.
#pragma once

#include "ir/OperandLayout.h"
#include "ir/Schedule.h"
#include "ir/Target.h"
#include "ir/ops/Gemm.h"

#include <cstdint>
#include <string_view>

namespace kw {

// ---- What Inductor calls ----

enum class TritonOp : std::uint8_t { none, mm, addmm, bmm, baddbmm };
/// The matrix that addmm and baddbmm add.
enum class TritonAdded : std::uint8_t { none, bias, matrix };

struct TritonCall {
  TritonOp op = TritonOp::none;
  TritonAdded added = TritonAdded::none;
  std::string_view refusal; ///< op none: what of the problem no template computes
};
/// batch=1 is mm or addmm, more are bmm or baddbmm; epilogue=bias, epilogue=add or beta give the
/// added matrix.
TritonCall tritonCall(const Gemm &gemm);
std::string_view name(TritonOp op);

/// Whether Inductor leaves mm's Triton template out and splits K instead. [inductor.md 2.4(3)]
bool splitsKInstead(const Gemm &gemm);

// ---- What Triton compiles ----

/// How its software pipeline fills LDS. [C]
enum class TritonPipeliner : std::uint8_t {
  registers, ///< 3.6, 3.7: through registers; num_stages - 1 buffers
  direct,    ///< 3.8, 3.9: buffer loads straight to LDS where these can be; num_stages buffers
};

struct TritonOperand {
  bool direct = false;
  int vectorBytes = 16; ///< a lane and load
  int padding = 0;      ///< bytes after each 1024 bytes; 0: none, swizzled
  std::int64_t tileBytes = 0;
  std::int64_t ldsBytes = 0; ///< all buffers
};

struct TritonKernel {
  int mfmaM = 16, mfmaN = 16, mfmaK = 0; ///< mfmaK 0: no such instruction
  int wavesM = 1, wavesN = 1;
  bool pipelined = false; ///< loads of later steps are under way while a step multiplies
  int buffers = 1;        ///< of each operand in LDS
  TritonOperand a, b;
  std::int64_t ldsBytes = 0;
};

/// Any values that the parser accepts.
TritonKernel tritonKernel(const Gemm &gemm, const TritonGemmSchedule &schedule,
                          const Target &target,
                          TritonPipeliner pipeliner = TritonPipeliner::direct);

/// Most LDS that any known version of Triton takes, whether or not it is told of
/// matrix_instr_nonkdim (torch 2.13 doesn't pass it on).
std::int64_t tritonLdsBytes(const Gemm &gemm, const TritonGemmSchedule &schedule,
                            const Target &target);

/// Loads of one lane for a tile.
int loadsOf(const TritonOperand &operand, int numWarps);

/// Vector registers of a wave, VGPRs and AGPRs together.
struct TritonRegisters {
  int accumulators = 0, total = 0;
};
TritonRegisters tritonRegisters(const Gemm &gemm, const TritonGemmSchedule &schedule,
                                const Target &target);
/// Predicted registers up to which a kernel doesn't spill.
int tritonRegisterBudget(const TritonGemmSchedule &schedule, const Target &target);

/// K is a multiple of BLOCK_K: loads need no mask.
inline bool evenK(const Gemm &gemm, const TritonGemmSchedule &schedule) {
  return gemm.k % schedule.blockK == 0;
}

/// A kernel of ours with the same structure: what the loop's graph is made of.
GemmSchedule similarSchedule(const TritonGemmSchedule &schedule, const TritonKernel &kernel);

} // namespace kw
