// Kernelwright
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The terms as a table. Each is a pure function of the profile, the rounds and the target, gives
// microseconds >= 0, and never rises when a bandwidth, the clock or the number of CUs rises or a
// count falls. One file a term; this is all that has to be touched to add one.
#pragma once

#include "costmodel/Estimate.h"
#include "costmodel/Rounds.h"

#include <array>

namespace kw {

using TermFunction = double (*)(const LaunchProfile &, const Rounds &, const Target &);

namespace terms {
double matrix(const LaunchProfile &, const Rounds &, const Target &);
double lds(const LaunchProfile &, const Rounds &, const Target &);
double vectorAlu(const LaunchProfile &, const Rounds &, const Target &);
double issue(const LaunchProfile &, const Rounds &, const Target &);
double sustainedClock(const LaunchProfile &, const Rounds &, const Target &);
double l2(const LaunchProfile &, const Rounds &, const Target &);
double mall(const LaunchProfile &, const Rounds &, const Target &);
double hbm(const LaunchProfile &, const Rounds &, const Target &);
double inFlight(const LaunchProfile &, const Rounds &, const Target &);
double dispatch(const LaunchProfile &, const Rounds &, const Target &);
double launch(const LaunchProfile &, const Rounds &, const Target &);
double prologue(const LaunchProfile &, const Rounds &, const Target &);
double barrier(const LaunchProfile &, const Rounds &, const Target &);
double epilogue(const LaunchProfile &, const Rounds &, const Target &);
double flush(const LaunchProfile &, const Rounds &, const Target &);
double reduction(const LaunchProfile &, const Rounds &, const Target &);
} // namespace terms

struct TermRow {
  Term term; ///< under which name its time is reported
  TermFunction us;
};

/// The pipes of a CU.
inline constexpr std::array<TermRow, 3> pipeTerms{{
    {Term::matrix, terms::matrix},
    {Term::lds, terms::lds},
    {Term::vectorAlu, terms::vectorAlu},
}};

/// The chain of dependences through them: they follow one another.
inline constexpr std::array<TermRow, 2> chainTerms{{
    {Term::issue, terms::issue},
    {Term::barrier, terms::barrier},
}};

/// One limit seen from two sides: a round trip under load is that of a busy L2.
inline constexpr std::array<TermRow, 2> pathTerms{{
    {Term::l2, terms::l2},
    {Term::inFlight, terms::inFlight},
}};

/// What acts at the same time as a CU's core and the path to it.
inline constexpr std::array<TermRow, 4> concurrentTerms{{
    {Term::matrix, terms::sustainedClock},
    {Term::mall, terms::mall},
    {Term::hbm, terms::hbm},
    {Term::launch, terms::dispatch},
}};

/// Hidden by nothing: added. Term::lastRound is the difference of two combinations (Combine.cpp).
inline constexpr std::array<TermRow, 5> serialTerms{{
    {Term::launch, terms::launch},
    {Term::prologue, terms::prologue},
    {Term::epilogue, terms::epilogue},
    {Term::epilogue, terms::flush},
    {Term::reduction, terms::reduction},
}};

/// Microseconds of shader clocks at peak clock.
inline double microseconds(double cycles, const Target &target) {
  return cycles / (target.peakClockHz * 1e-6);
}

/// How often a part that starts or ends a workgroup is exposed on a CU: always in the first batch;
/// later other resident workgroups fill the gap, the better the more of them there are.
inline double exposures(const Rounds &rounds) {
  return 1 + (rounds.batches - 1) / rounds.residentCopies;
}

/// Shader clocks from a load of a cold operand to its data in a busy CU. The measured round trip
/// (Target.h) is of loads that mostly hit the L2; a cold one waits for HBM in place of the L2, and
/// so do the workgroups that share its tile.
double coldRoundTripCycles(const Target &target);

/// Fraction of memory bandwidth that so many CUs reach (Constants.h).
double bandwidthRamp(double activeCus);

} // namespace kw
