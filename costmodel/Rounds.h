// Kernelwright
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// How the workgroups of a launch fill the CUs. The hardware hands a workgroup to the first CU with
// room, so equal workgroups run in rounds: the busiest CU gets ceil(workgroups / CUs) of them,
// `workgroupsPerCu` at a time. Unequal ones are handed out longest first, so that they fill rounds
// like equal ones; but none ends before the longest does.
#pragma once

#include "costmodel/KernelProfile.h"

namespace kw {

/// Load of the busiest CU over the launch.
struct Rounds {
  double workgroups = 0;     ///< that run on it
  double wavesOfSimd = 0;    ///< that run on its busiest SIMD
  double batches = 0;        ///< times that it is filled: rounds, the last may fill it in part
  double walks = 0;          ///< loops of mean length one after the other: batches, or the longest
  double residentCopies = 1; ///< workgroups that share it while it is full
  double activeCus = 0;      ///< CUs that work on average while it works
};

/// As it is. Workgroups of a stream-K grid share all pieces: there are no rounds, the busiest CU
/// has the longest shares.
Rounds exactRounds(const LaunchProfile &profile, const Target &target);
/// As if the workgroups were alike and those of all rounds but a single one could be divided
/// evenly. Never more than exactRounds; the difference in time is the cost of the last round.
Rounds evenRounds(const LaunchProfile &profile, const Target &target);

} // namespace kw
