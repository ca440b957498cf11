// Kernelwright
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The decisions of TorchInductor's Triton templates for mm, addmm, bmm and baddbmm on AMD GPUs,
// with the names and meanings that Inductor and Triton give them. What Inductor derives from the
// problem (EVEN_K, ACC_TYPE) is no decision and stands in the plan and in the exported row.
#pragma once

namespace kw {

struct TritonGemmSchedule {
  int blockM = 128, blockN = 128, blockK = 64; ///< output tile and K step of a workgroup
  int groupM = 8;                              ///< rows of tiles that are walked together
  int numWarps = 4;                            ///< waves of a workgroup
  int numStages = 2;          ///< depth of Triton's software pipeline: 1 less in LDS, 1 is none
  int matrixInstrNonKDim = 0; ///< m and n of the matrix instruction; 0: Triton's choice
  int wavesPerEu = 0;         ///< occupancy asked of the register allocator; 0: its own choice
  int kpack = 1;              ///< Triton for gfx950 takes 1 whatever is asked
  bool operator==(const TritonGemmSchedule &) const = default;
};

} // namespace kw
