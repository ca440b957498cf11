// Kernelwright
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// From profiles to a time: concurrent terms overlap, serial terms are added, launches follow one
// another (Overlap.h states the rule).
#pragma once

#include "costmodel/Estimate.h"
#include "costmodel/KernelProfile.h"

#include <array>
#include <bitset>

namespace kw {

/// Terms by their number.
using TermSet = std::bitset<termCount>;

/// Microseconds of one launch.
double launchUs(const LaunchProfile &profile, const Target &target);

/// Adds the launch's parts to `termsUs`; they add up to launchUs, which is returned. `lastRound` is
/// what the workgroups' not dividing evenly over the CUs costs, in all terms together. `without`:
/// terms taken as 0, to see what each is worth (lastRound: rounds count as even).
double addLaunchTerms(const LaunchProfile &profile, const Target &target,
                      std::array<double, termCount> &termsUs, TermSet without = {});

} // namespace kw
