// Kernelwright
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The one rule how terms combine.
//
// 1. Limits that act at the same time (pipes, memories, power) with times t_i take
//
//        norm(t) = 0.98 (sum t_i^4)^(1/4) + 0.02 sum t_i
//
//    At least the largest, 21% more where two are equal: overlap is never perfect when two limits
//    are both nearly reached; and what is hidden well still costs 2% of its own time (Constants.h).
//    [prior: the power 4 and the 2%; README.md says how they were checked]
// 2. How well a loop weaves its pipes is what its chain of dependences says (in-order issue,
//    latencies, barriers); it contains their use. So the core of a CU takes
//    core = max(0.98 largest pipe + 0.02 sum of pipes, chain), no norm on top of that.
// 3. Loads in flight and the bandwidth of the L2 are one limit seen from two sides: the round trip
//    under load is that of a busy L2. So  path = max(l2, inFlight).
// 4. All that acts at the same time takes  norm(core, path, others).
// 5. What nothing hides (launch, prologue, epilogue, reduction) is added to that.
//
// Every step rises with every term, also in floating point: each operation rounds monotonically.
//
// Naming: each term owns its 2%. Of the rest the largest keeps its own time and the others share
// the excess in proportion to t_i^4, so that hidden work costs little and the parts add up. What a
// chain exceeds its pipes by is the chain's own; a path is its larger side's.
#pragma once

#include <span>

namespace kw {

/// Rule 1. All terms >= 0, one unit.
double overlapped(std::span<const double> terms);

/// `shares[i]` of terms[i] in overlapped(terms); they add up to it. Returns overlapped(terms).
double attribute(std::span<const double> terms, std::span<double> shares);

/// Rule 2. `chain`: times that follow one another.
double coreTime(std::span<const double> pipes, std::span<const double> chain);

/// `shares` of the pipes and of what the chain adds, each link beyond those before it, in
/// coreTime(pipes, chain), scaled to add up to `total`.
void attributeCore(std::span<const double> pipes, std::span<const double> chain, double total,
                   std::span<double> shares, std::span<double> chainShares);

} // namespace kw
