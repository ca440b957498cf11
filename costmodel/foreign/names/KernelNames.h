// Kernelwright
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The decision record of each foreign generator, from its kernels' names, and what each record says
// of a kernel in common terms (TileKernel.h). A record has the generator's own words; what a name
// doesn't tell stays unknown. [G]: what a word means, from the generator's public sources.
#pragma once

#include "costmodel/foreign/MeasuredRows.h"
#include "costmodel/foreign/TileKernel.h"

#include <optional>
#include <string>
#include <string_view>

namespace kw {

/// Composable Kernel: GEMM instances of aiter and its two-stage MoE.
struct CkRecord {
  std::string kind; ///< "a8w8_blockscale", "a8w8_bpreshuffle", "moe_ck2stages_gemm1", ...
  int blockSize = 0, perBlockM = 0, perBlockN = 0, perBlockK = 0;
  std::optional<int> perXdl; ///< m = n of the matrix instruction
  std::optional<int> xdlPerWaveM, xdlPerWaveN;
  std::optional<int> wavesM, wavesN; ///< MoE names tell these
  int pipelineVersion = 0;           ///< 0: not told
  bool interwave = false;
};
std::optional<CkRecord> parseCk(std::string_view name);
TileKernel tileKernel(const CkRecord &record);

/// CK Tile.
struct CkTileRecord {
  std::string kind;
  int tileM = 0, tileN = 0, tileK = 0;
  int waveM = 1, waveN = 1, waveK = 1;
  int mfmaM = 16, mfmaN = 16;
  std::optional<int> mfmaK;
  std::optional<int> blocksPerCu;
};
std::optional<CkTileRecord> parseCkTile(std::string_view name);
TileKernel tileKernel(const CkTileRecord &record);

/// aiter's assembly kernels, mangled: _ZN5aiter41f4gemm_bf16_per1x32Fp4_BpreShuffle_32x128E.
struct AsmRecord {
  std::string kind; ///< name without tile
  int tileM = 0, tileN = 0;
  std::optional<int> tileK;      ///< bk128
  std::optional<int> prefetch;   ///< pf3
  std::optional<int> workgroups; ///< 4tg: workgroups a CU
  bool splitK = false, persistent = false, preshuffle = false;
};
std::optional<AsmRecord> parseAsm(std::string_view name);
TileKernel tileKernel(const AsmRecord &record);

/// hipBLASLt: Tensile's parameter string. MT0 runs along n of the problem (README of the data).
struct TensileRecord {
  int macroTile0 = 0, macroTile1 = 0, depthU = 0;
  std::optional<int> miM;                         ///< MI16x16x1
  std::optional<int> threads0, threads1, sliceK;  ///< WG32_8_1
  std::optional<int> waveTile0, waveTile1;        ///< MIWT10_7: instructions a wave
  std::optional<bool> directToLdsA, directToLdsB; ///< DTLA1
  std::optional<int> globalPrefetch;              ///< PGR2
  std::optional<bool> oneLdsBuffer;               ///< 1LDSB1
  std::optional<int> streamK;                     ///< SK3; 0: none
  std::optional<int> globalSplitU;                ///< GSU; 0: chosen at run time
  bool custom = false;                            ///< hand-scheduled (CMS, Custom_)
};
std::optional<TensileRecord> parseTensile(std::string_view name);
TileKernel tileKernel(const TensileRecord &record);

/// FlyDSL's GEMM and MoE kernels.
struct FlyDslRecord {
  std::string kind; ///< "hgemm", "bpreshuffle", "mxpsh", "moe1", "mxmoe_g1", ...
  int tileM = 0, tileN = 0, tileK = 0;
  std::optional<int> stages, splitK;
  std::optional<int> warpM, warpN, warpK;
  std::optional<int> wavesPerEu;
  std::optional<bool> asyncCopy, bToLds;
  std::optional<int> bNonTemporal, xcds, sortBlockM; ///< bnt0, xcd4, sbm32
  bool persistent = false, atomic = false, reduce = false;
  bool nonTemporal = false;                        ///< nt
  bool gateOnly = false, gateUpInterleave = false; ///< go, gui
  bool quantised = false;                          ///< writes the next stage's type: ..._fp4
};
std::optional<FlyDslRecord> parseFlyDsl(std::string_view name);
TileKernel tileKernel(const FlyDslRecord &record);

/// opus.
struct OpusRecord {
  std::string kind; ///< "gemm", "gemm_flatmm_splitk", "bmm_a8w8_mxscale_...", ...
  int threads = 0, tileM = 0, tileN = 0, tileK = 0;
  std::optional<int> waveM, waveN, mfmaM, mfmaK, workgroupsPerCu;
};
std::optional<OpusRecord> parseOpus(std::string_view name);
TileKernel tileKernel(const OpusRecord &record);

/// A row's kernel in common terms: the record of its name, completed by the row's columns. Names of
/// libraries that don't tell a kernel (torch, auto, hipBLASLt's solution numbers) give one that is
/// `picked`; so does a name that no record reads, unless columns tell the tile.
struct ReadKernel {
  std::string generator; ///< "ck", "cktile", "asm", "hipblaslt", "flydsl", "opus", "triton", ...
  std::string identity;  ///< the name without what follows from the shape
  TileKernel tile;
};
ReadKernel readKernel(const KernelText &text);

} // namespace kw
