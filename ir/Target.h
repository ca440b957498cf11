// Kernelwright
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The facts of one GPU as a table. One file per GPU in ir/targets/; capabilities are fields, never
// comparisons of names. Sources of the values stand beside them in ir/targets/.
#pragma once

#include "ir/ElementType.h"
#include "ir/support/Expected.h"

#include <cstdint>
#include <span>
#include <string_view>

namespace kw {

/// One dense matrix instruction: D(MxN) += A(MxK) B(KxN), executed by one wave.
struct MatrixInstruction {
  int m = 0, n = 0, k = 0;
  ElementType a = ElementType::f16, b = ElementType::f16, accumulator = ElementType::f32;
  int aRegisters = 0;  ///< 32-bit registers per lane for A; B's number is the same unless formats differ
  int bRegisters = 0;
  int accumulatorRegisters = 0;
  int cycles = 0; ///< shader clocks that the SIMD's matrix pipe is occupied (4 x passes)
  std::string_view mnemonic; ///< e.g. "v_mfma_f32_16x16x32_bf16"
};

/// LDS access of one kind and width: which lanes are served together, and how many banks they see.
struct LdsPhases {
  int bytesPerLane = 0;
  bool write = false;
  int banks = 0;   ///< of 4 bytes
  int phases = 0;  ///< groups of lanes served one after the other
  /// For each lane its phase.
  std::span<const std::uint8_t> phaseOfLane;
};

struct Target {
  std::string_view name; ///< "gfx950"
  std::string_view product;

  // Structure.
  int xcds = 0, cus = 0, simdsPerCu = 0;
  int waveSize = 64;
  int maxWavesPerSimd = 0, maxWavesPerWorkgroup = 0;

  // Registers and LDS.
  int vectorRegisters = 0;        ///< per lane and SIMD, VGPR + AGPR, shared by resident waves
  int vectorRegistersPerWave = 0; ///< VGPR + AGPR that one wave can address
  int vgprPerWave = 0;            ///< architectural VGPRs that one wave can address
  int vectorRegisterGranule = 0;
  int ldsBytes = 0, ldsGranule = 0; ///< per CU
  int ldsReadBytesPerClock = 0, ldsWriteBytesPerClock = 0; ///< per CU
  std::span<const LdsPhases> ldsPhases;

  // Memory system; bytes, bytes per shader clock or bytes per second as named.
  std::int64_t l1Bytes = 0, l2BytesPerXcd = 0, mallBytes = 0, hbmBytes = 0;
  int cacheLineBytes = 0;
  int l1BytesPerClock = 0;         ///< per CU
  int l2BytesPerClockPerXcd = 0;   ///< read
  double mallBytesPerSecond = 0, hbmBytesPerSecond = 0; ///< peak
  double hbmAchievableFraction = 0;
  int bytesInFlightPerCu = 0;      ///< outstanding global loads that a CU can hold
  int l2LatencyCycles = 0, mallLatencyCycles = 0, hbmLatencyCycles = 0, ldsLatencyCycles = 0;

  // Clocks and rates.
  double peakClockHz = 0;
  int valuCycles = 0;           ///< per wave instruction and SIMD
  int transcendentalCycles = 0;
  double launchSeconds = 0;     ///< smallest kernel, start to end on the device
  /// Fractions of the peak matrix rate that a long-running kernel sustains under power, by the bits
  /// of the wider operand: the clock falls with the duty of the pipes. f32 and f64: no limit known.
  double sustainedFraction16 = 1, sustainedFraction8 = 1, sustainedFraction4 = 1;
  double loadedRoundTripCycles = 1000; ///< global load to its data in a busy CU, mostly L2 hits
  double barrierCycles = 40; ///< lost at a barrier beyond the dependences of the loop graph
  int waveLaunchCyclesPerSe = 0, shaderEngines = 0;

  // Capabilities.
  bool directToLds16 = false;      ///< buffer loads of 16 bytes a lane straight to LDS
  bool transposingLdsRead = false; ///< ds_read_b64_tr_b16 and relatives
  bool permlaneSwap = false;
  int maxVmcnt = 0, maxLgkmcnt = 0;

  std::span<const MatrixInstruction> matrixInstructions;
};

/// All targets that are known, best supported first.
std::span<const Target *const> targets();
/// The error lists the names that are accepted.
Expected<const Target *> findTarget(std::string_view name);

const MatrixInstruction *findMatrixInstruction(const Target &target, int m, int n, int k,
                                               ElementType a, ElementType b);

/// Peak of the matrix pipes for operands of this type, FLOP per second at peak clock; 0: no such
/// instruction. Recomputed from instruction cycles, SIMDs, CUs and clock.
double peakFlops(const Target &target, ElementType a, ElementType b);

} // namespace kw
