// Kernelwright
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Constants of the model that are not facts of one target (those stand in ir/targets/). Each has a
// unit and a source. [measured: ...] names who measured, all quoted in the reference documents;
// [prior: ...] is a choice that no source settles, with its reason. Nothing here is fitted.
#pragma once

namespace kw::constants {

// ---- Memory system ------------------------------------------------------------------------------

/// Fraction of a memory's bandwidth that n active CUs reach: (squared n + linear) n + constant.
/// [measured: Origami's gfx950 constants]; rises to n = 272, used as 1 from 256 on.
inline constexpr double rampSquared = -1.3e-5, rampLinear = 7.07e-3, rampConstant = 0.0274;
inline constexpr double rampFullCus = 256;

/// Bytes of the smallest request between L1 and memory.
/// [measured: TCC counters distinguish 64- and 128-byte requests]
inline constexpr int requestBytes = 64;

/// L2 write bandwidth per read bandwidth. [datasheet: 64 B/clk/channel write, 128 read]
inline constexpr double l2WriteFraction = 0.5;

/// Bytes of results that are still in the L2s, unwritten, when a launch ends: at most what all L2s
/// of a part hold. [datasheet: 8 x 4 MiB, gfx942 and gfx950; that they are full of results and go
/// to HBM is a prior]. Not read from the target: a larger cache must not look slower.
inline constexpr double dirtyBytesAtEnd = 32.0 * 1024 * 1024;

// ---- Fixed costs --------------------------------------------------------------------------------

/// Shader clocks from a wave's start to its first instruction, instruction cache warm.
/// [prior: cold 428 to 716 are measured (tinygrad thread traces); warm guessed at 100 to 200]
inline constexpr double waveStartCycles = 150;

/// Shader clocks from the last store to the end of the wave.
/// [measured: tinygrad thread traces of gfx950, median of 184 to 280]
inline constexpr double storeRetireCycles = 238;

/// Shader clocks that one vector store instruction of a wave occupies the CU's address path.
/// [prior: 4 lanes' addresses a clock; a public kernel gained 6 to 9% from a fourth of the stores]
inline constexpr double storeInstructionCycles = 16;

// ---- Power --------------------------------------------------------------------------------------

/// What a clock of a vector ALU draws per clock of a matrix pipe. [prior: a clock takes the
/// operands of 16 lanes from the register file, one of the matrix pipe does 512 multiply-adds that
/// share theirs; below what any type sustains, so that vector work alone never slows the clock.
/// Half of the matrix pipe's was taken with a look at published attention times (37% MAPE with 0,
/// 31% with 0.25, 27% with 0.5); GEMM rows don't tell it from 0 (13.4% with each)]
inline constexpr double vectorPower = 0.5;

// ---- Combination and interval -------------------------------------------------------------------

/// Fraction of its own time that a perfectly hidden limit still costs: requests of one interfere
/// with those of another. [prior: small; tells schedules apart that differ in hidden work alone]
inline constexpr double hiddenCost = 0.02;

/// Half width of the 80% interval in log(time). [prior: published zero-shot analytic models are off
/// by 12 to 30% on unseen shapes; replaced by the residual's own spread once there is one]
inline constexpr double logSpread80 = 0.30;

/// Of a generator without a run, the share of the variance of the analytic model's errors that all
/// of its kernels have in common. [measured: published GEMM rows of gfx950, three types with three
/// generators at least: variance of the generators' medians 0.0127 of 0.0431 in all]
inline constexpr double generatorVarianceShare = 0.3;

/// Half width of an 80% interval in standard deviations of a normal distribution.
inline constexpr double deviationsOf80 = 1.2816;

} // namespace kw::constants
