// Kernelwright
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Adversarial time: when the data of memory instructions land. Hardware promises nothing between
// issue and the s_waitcnt that covers an access; here the choice is the caller's.
//
//   early    at issue: registers, LDS and loads to LDS change at once
//   late     when a wait (or a full counter) forces it; until then a destination holds what it
//   held,
//            or poison
//   random   in between, seeded, each counter in its own order
//
// Accesses of global memory are performed when they are issued; what lands late is the data of
// loads. LDS instructions are performed as a whole when they land, with the operands of the issue.
// LDS reads that are out at a barrier land before loads to LDS issued behind it do, as memory takes
// longer than the LDS queue (Lds.h). Accesses of one counter land in order, scalar loads in any.
// FLAT accesses of LDS land at issue.
#pragma once

#include "runtime/emulator/Op.h"

#include <array>
#include <cstdint>
#include <deque>
#include <memory>
#include <random>
#include <vector>

namespace kw::detail {

struct Wave;

/// What a load to LDS brings, instead of LDS itself.
struct LdsCapture {
  std::uint64_t lanes = 0;
  unsigned bytes = 0; ///< a lane
  std::array<std::uint32_t, laneCount> address;
  std::array<std::array<std::uint8_t, 16>, laneCount> data;
};

class Flights {
public:
  Flights(bool random, std::uint32_t seed);

  /// Executes an instruction; its data land later if it is a memory access.
  void execute(Wave &wave, const Op &op);
  /// s_waitcnt.
  void waitFor(Wave &wave, unsigned vmem, unsigned lgkm);
  /// The end of the wave.
  void landAll(Wave &wave);

private:
  struct Flight {
    const Op *op = nullptr;
    std::uint64_t exec = 0;
    std::uint32_t interval = 0;                              ///< between barriers
    std::vector<std::array<std::uint32_t, laneCount>> words; ///< results, or operands of LDS
    std::vector<std::uint32_t> scalars;
    std::unique_ptr<LdsCapture> capture;
  };

  void launchLoad(Wave &wave, const Op &op, std::deque<Flight> &queue);
  void launchToLds(Wave &wave, const Op &op);
  void launchLds(Wave &wave, const Op &op);
  void launchScalar(Wave &wave, const Op &op);
  void landSome(Wave &wave);
  static void land(Wave &wave, const Flight &flight);
  void landReadsBefore(Wave &wave, std::uint32_t interval);
  static void landLds(Wave &wave, const Flight &flight);
  static void landDownTo(Wave &wave, std::deque<Flight> &queue, std::size_t left);

  std::deque<Flight> vmem, lds;
  std::vector<Flight> smem;
  std::minstd_rand choice;
  bool random, poison;
  unsigned chance = 0; ///< of 64, for something to land before an instruction
};

} // namespace kw::detail
