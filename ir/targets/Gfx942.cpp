// Kernelwright
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// MI300X (CDNA3). Tags: see Targets.h; here [3] is a measurement of this very part.
#include "ir/targets/MatrixTables.h"
#include "ir/targets/Targets.h"

#include <array>

namespace kw {
namespace {

using tables::LanePhases;
using tables::toF32;
using tables::toI32;
using enum ElementType;

// Cycles [V] give 1307 (f16), 163 (f32, f64) TFLOP/s and 2614 TOP/s (i8), the data sheet's figures.
// The 8-bit floats of this part are FNUZ, not the OCP formats of `ElementType`, and XF32 has no
// element type: both are left out.
constexpr auto instructions = std::to_array<MatrixInstruction>({
    toF32(16, 16, 16, f16, 16, 16, "v_mfma_f32_16x16x16_f16"),
    toF32(32, 32, 8, f16, 16, 32, "v_mfma_f32_32x32x8_f16"),
    toF32(16, 16, 16, bf16, 16, 16, "v_mfma_f32_16x16x16_bf16"),
    toF32(32, 32, 8, bf16, 16, 32, "v_mfma_f32_32x32x8_bf16"),
    toI32(16, 16, 32, 16, "v_mfma_i32_16x16x32_i8"),
    toI32(32, 32, 16, 32, "v_mfma_i32_32x32x16_i8"),
    toF32(16, 16, 4, f32, 32, 32, "v_mfma_f32_16x16x4_f32"),
    toF32(32, 32, 2, f32, 32, 64, "v_mfma_f32_32x32x2_f32"),
    {16, 16, 4, f64, f64, f64, 2, 2, 8, 32, "v_mfma_f64_16x16x4_f64"},
});

constexpr LanePhases twoPhases = tables::consecutivePhases(32);
constexpr LanePhases fourPhases = tables::consecutivePhases(16);
constexpr LanePhases eightPhases = tables::consecutivePhases(8);

// 32 banks, 128 bytes a clock, 16-byte reads in 8 phases of 8 lanes [V]; that the 8 are
// consecutive lanes is an assumption [A].
constexpr auto phases = std::to_array<LdsPhases>({
    {4, false, 32, 2, twoPhases},
    {8, false, 32, 4, fourPhases},
    {16, false, 32, 8, eightPhases},
    {4, true, 32, 2, twoPhases},
    {8, true, 32, 4, fourPhases},
    {16, true, 32, 8, eightPhases},
});

constexpr std::int64_t KiB = 1024, MiB = 1024 * KiB;

constexpr Target target{
    .name = "gfx942",
    .product = "AMD Instinct MI300X",

    .xcds = 8,                  // [V]
    .cus = 304,                 // [V]
    .simdsPerCu = 4,            // [V]
    .waveSize = 64,             // [V]
    .maxWavesPerSimd = 8,       // [V]
    .maxWavesPerWorkgroup = 16, // [L]

    .vectorRegisters = 512,        // [V]
    .vectorRegistersPerWave = 512, // [V]
    .vgprPerWave = 256,            // [V]
    .vectorRegisterGranule = 8,    // [L]
    .ldsBytes = 64 * KiB,          // [V]
    .ldsGranule = 512,             // [L]
    .ldsReadBytesPerClock = 128,   // [V]
    .ldsWriteBytesPerClock = 128,  // [V]
    .ldsPhases = phases,

    .l1Bytes = 32 * KiB,             // [V]
    .l2BytesPerXcd = 4 * MiB,        // [V]
    .mallBytes = 256 * MiB,          // [V]
    .hbmBytes = 192'000'000'000,     // [V]
    .cacheLineBytes = 128,           // [V]
    .l1BytesPerClock = 64,           // [V]
    .l2BytesPerClockPerXcd = 2048,   // [V]
    .mallBytesPerSecond = 17.2e12,   // [V]
    .hbmBytesPerSecond = 5.3e12,     // [V]
    .hbmAchievableFraction = 0.755,  // [D] Origami's 4 TB/s
    .bytesInFlightPerCu = 44 * 1024, // [A] as gfx950
    .l2LatencyCycles = 224,          // [3]
    .mallLatencyCycles = 500,        // [A] as gfx950
    .hbmLatencyCycles = 800,         // [3] 500 to 800
    .ldsLatencyCycles = 64,          // [3]

    .peakClockHz = 2.1e9,        // [V]
    .valuCycles = 4,             // [V]
    .transcendentalCycles = 16,  // [L]
    .launchSeconds = 2.0e-6,     // [3] MI300A: 1 us back to back, 3 us cold
    .sustainedFraction16 = 0.7,  // [A] as gfx950
    .sustainedFraction8 = 0.65,  // [A] as gfx950
    .sustainedFraction4 = 0.65,  // [A] as gfx950
    .waveLaunchCyclesPerSe = 16, // [A] as gfx950
    .shaderEngines = 32,         // [V]

    .directToLds16 = false,      // [L] at most 4 bytes a lane
    .transposingLdsRead = false, // [L]
    .permlaneSwap = false,       // [L]
    .maxVmcnt = 63,              // [L]
    .maxLgkmcnt = 15,            // [L]

    .matrixInstructions = instructions,
};

} // namespace

const Target &gfx942Target() { return target; }

} // namespace kw
