// Kernelwright
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// MI355X (CDNA4). Tags: see Targets.h.
#include "ir/targets/MatrixTables.h"
#include "ir/targets/Targets.h"

#include <array>

namespace kw {
namespace {

using tables::LanePhases;
using tables::toF32;
using tables::toI32;
using enum ElementType;

// ---- Matrix instructions ----
// Accepted by llvm-mc for gfx950 [L]; cycles = LLVM's passes x 4, as stated by the vendor [V].
// Instructions of several independent blocks (4x4x4_16b and relatives) are left out: they are not
// one MxNxK product.

constexpr auto plainInstructions = std::to_array<MatrixInstruction>({
    toF32(16, 16, 32, f16, 16, 16, "v_mfma_f32_16x16x32_f16"),
    toF32(32, 32, 16, f16, 16, 32, "v_mfma_f32_32x32x16_f16"),
    toF32(16, 16, 32, bf16, 16, 16, "v_mfma_f32_16x16x32_bf16"),
    toF32(32, 32, 16, bf16, 16, 32, "v_mfma_f32_32x32x16_bf16"),
    // The older shapes run at half the rate [M].
    toF32(16, 16, 16, f16, 16, 16, "v_mfma_f32_16x16x16_f16"),
    toF32(32, 32, 8, f16, 16, 32, "v_mfma_f32_32x32x8_f16"),
    toF32(16, 16, 16, bf16, 16, 16, "v_mfma_f32_16x16x16_bf16"),
    toF32(32, 32, 8, bf16, 16, 32, "v_mfma_f32_32x32x8_bf16"),
    toI32(16, 16, 64, 16, "v_mfma_i32_16x16x64_i8"),
    toI32(32, 32, 32, 32, "v_mfma_i32_32x32x32_i8"),
    toI32(16, 16, 32, 16, "v_mfma_i32_16x16x32_i8"),
    toI32(32, 32, 16, 32, "v_mfma_i32_32x32x16_i8"),
    toF32(16, 16, 4, f32, 32, 32, "v_mfma_f32_16x16x4_f32"),
    toF32(32, 32, 2, f32, 32, 64, "v_mfma_f32_32x32x2_f32"),
    {16, 16, 4, f64, f64, f64, 2, 2, 8, 64, "v_mfma_f64_16x16x4_f64"},
});

struct NarrowPair {
  ElementType a, b;
  std::string_view shape16, shape32;
};

// The fp8 shapes that gfx942 has too, half the rate of f8f6f4 [V].
constexpr auto narrowPairs = std::to_array<NarrowPair>({
    {fp8, fp8, "v_mfma_f32_16x16x32_fp8_fp8", "v_mfma_f32_32x32x16_fp8_fp8"},
    {fp8, bf8, "v_mfma_f32_16x16x32_fp8_bf8", "v_mfma_f32_32x32x16_fp8_bf8"},
    {bf8, fp8, "v_mfma_f32_16x16x32_bf8_fp8", "v_mfma_f32_32x32x16_bf8_fp8"},
    {bf8, bf8, "v_mfma_f32_16x16x32_bf8_bf8", "v_mfma_f32_32x32x16_bf8_bf8"},
});

struct NarrowFormat {
  ElementType type;
  int registers; ///< of 32 elements a lane
};
constexpr auto narrowFormats =
    std::to_array<NarrowFormat>({{fp8, 8}, {bf8, 8}, {fp6, 6}, {bf6, 6}, {fp4, 4}});

constexpr std::size_t pairs = narrowFormats.size() * narrowFormats.size();
constexpr std::size_t instructionCount =
    plainInstructions.size() + 2 * narrowPairs.size() + 2 * pairs;

/// f8f6f4 takes any pair of formats; the fast class needs both operands below 8 bits [V].
constexpr int narrowCycles(const NarrowFormat &a, const NarrowFormat &b, int fast) {
  return a.registers == 8 || b.registers == 8 ? 2 * fast : fast;
}

constexpr std::array<MatrixInstruction, instructionCount> makeInstructions() {
  std::array<MatrixInstruction, instructionCount> all{};
  std::size_t next = 0;
  for (const NarrowFormat &a : narrowFormats) {
    for (const NarrowFormat &b : narrowFormats) {
      all[next++] = {16,
                     16,
                     128,
                     a.type,
                     b.type,
                     f32,
                     a.registers,
                     b.registers,
                     4,
                     narrowCycles(a, b, 16),
                     "v_mfma_f32_16x16x128_f8f6f4"};
      all[next++] = {32,
                     32,
                     64,
                     a.type,
                     b.type,
                     f32,
                     a.registers,
                     b.registers,
                     16,
                     narrowCycles(a, b, 32),
                     "v_mfma_f32_32x32x64_f8f6f4"};
    }
  }
  for (const MatrixInstruction &instruction : plainInstructions) {
    all[next++] = instruction;
  }
  for (const NarrowPair &pair : narrowPairs) {
    all[next++] = {16, 16, 32, pair.a, pair.b, f32, 2, 2, 4, 16, pair.shape16};
    all[next++] = {32, 32, 16, pair.a, pair.b, f32, 2, 2, 16, 32, pair.shape32};
  }
  return all;
}
constexpr auto instructions = makeInstructions();

// ---- LDS ----
// Lanes that are served together [M: HipKittens' phase solver]. 16-byte reads:
// {0-3, 12-15, 20-27}, {4-11, 16-19, 28-31} and the same + 32.
constexpr LanePhases read128Phases() {
  LanePhases phases{};
  for (std::size_t lane = 0; lane < phases.size(); ++lane) {
    const std::size_t in = lane % 32;
    const bool first = in < 4 || (in >= 12 && in < 16) || (in >= 20 && in < 28);
    phases[lane] = static_cast<std::uint8_t>(2 * (lane / 32) + (first ? 0 : 1));
  }
  return phases;
}

constexpr LanePhases onePhase = tables::consecutivePhases(64);
constexpr LanePhases twoPhases = tables::consecutivePhases(32);
constexpr LanePhases fourPhases = tables::consecutivePhases(16);
constexpr LanePhases eightPhases = tables::consecutivePhases(8);
constexpr LanePhases read128 = read128Phases();

// Reads see 64 banks, writes behave as 32 (128 bytes a clock): write_b64 is measured [M], the other
// two widths follow from that rate [D].
constexpr auto phases = std::to_array<LdsPhases>({
    {4, false, 64, 1, onePhase},
    {8, false, 64, 2, twoPhases},
    {16, false, 64, 4, read128},
    {4, true, 32, 2, twoPhases},
    {8, true, 32, 4, fourPhases},
    {16, true, 32, 8, eightPhases},
});

constexpr std::int64_t KiB = 1024, MiB = 1024 * KiB;

constexpr Target target{
    .name = "gfx950",
    .product = "AMD Instinct MI355X",

    .xcds = 8,                  // [V]
    .cus = 256,                 // [V] 32 active per XCD
    .simdsPerCu = 4,            // [V]
    .waveSize = 64,             // [V]
    .maxWavesPerSimd = 8,       // [V]
    .maxWavesPerWorkgroup = 16, // [L] 1024 work-items

    .vectorRegisters = 512,        // [V] 512 KiB a CU / 4 SIMDs / 64 lanes / 4 bytes
    .vectorRegistersPerWave = 512, // [V] 256 VGPRs and 256 AGPRs
    .vgprPerWave = 256,            // [V]
    .vectorRegisterGranule = 8,    // [L]
    .ldsBytes = 160 * KiB,         // [V]
    .ldsGranule = 1280,            // [V][L]
    .ldsReadBytesPerClock = 256,   // [V]
    .ldsWriteBytesPerClock = 128,  // [M]
    .ldsPhases = phases,

    .l1Bytes = 32 * KiB,             // [V]
    .l2BytesPerXcd = 4 * MiB,        // [V]
    .mallBytes = 256 * MiB,          // [V]
    .hbmBytes = 288'000'000'000,     // [V]
    .cacheLineBytes = 128,           // [V] of the L2; the MALL has 64
    .l1BytesPerClock = 128,          // [V] profiler's peak; older texts say 64
    .l2BytesPerClockPerXcd = 2048,   // [V] 16 channels x 128
    .mallBytesPerSecond = 17.2e12,   // [A] MI300X's peak; not published for CDNA4
    .hbmBytesPerSecond = 8e12,       // [V]
    .hbmAchievableFraction = 0.825,  // [A] between Origami's 0.75 and 0.90 of a perfect stream
    .bytesInFlightPerCu = 44 * 1024, // [M] 32 KiB L1 and 12 KiB of requests
    .l2LatencyCycles = 300,          // [3] 225 to 300
    .mallLatencyCycles = 500,        // [3]
    .hbmLatencyCycles = 800,         // [M] about 790
    .ldsLatencyCycles = 64,          // [3] 16 bytes a lane, whole wave; [M] 69 with addressing

    .peakClockHz = 2.4e9,        // [V]
    .valuCycles = 4,             // [T]
    .transcendentalCycles = 8,   // [M] 8; LLVM 22 still says 16
    .launchSeconds = 2.0e-6,     // [3] MI300A: 1 us back to back, 3 us cold
    // [A] between i8 alone in registers (0.91, measured on MI350X) and MI300X's published half
    .sustainedFraction16 = 0.7,
    .sustainedFraction8 = 0.65,
    .sustainedFraction4 = 0.65,
    .loadedRoundTripCycles = 1000, // [M] in-flight model of the Gluon tutorials
    .barrierCycles = 40,           // [A] not measured for CDNA
    .waveLaunchCyclesPerSe = 16, // [T] 12 to 16
    .shaderEngines = 32,         // [V] 4 per XCD

    .directToLds16 = true,      // [L]
    .transposingLdsRead = true, // [L]
    .permlaneSwap = true,       // [L]
    .maxVmcnt = 63,             // [L]
    .maxLgkmcnt = 15,           // [L]

    .matrixInstructions = instructions,
};

} // namespace

const Target &gfx950Target() { return target; }

} // namespace kw
