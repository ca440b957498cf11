// Kernelwright
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// One workgroup in flight: its waves take turns until all have ended. It can be left and resumed,
// so that workgroups that wait for each other make progress.
#pragma once

#include "runtime/emulator/CodeImage.h"
#include "runtime/emulator/Emulator.h"
#include "runtime/emulator/Lds.h"
#include "runtime/emulator/Wave.h"

#include <map>
#include <memory>
#include <random>
#include <string>
#include <utility>
#include <vector>

namespace kw::detail {

/// What all workgroups of a launch share.
struct LaunchContext {
  const KernelCode *kernel = nullptr;
  GlobalMemory *memory = nullptr;
  EmulatorLaunch launch;
  EmulatorOptions options;
  std::uint64_t kernarg = 0; ///< emulated addresses
  std::uint64_t dispatchPacket = 0;
  std::uint64_t codeBase = 0; ///< of virtual address 0 of the code object
  std::uint32_t ldsBytes = 0;
  AccessLog *log = nullptr; ///< strict
};

using FindingKey = std::pair<std::uint32_t, FindingKind>; ///< instruction index, kind
using FindingMap = std::map<FindingKey, EmulatorFinding>;

struct Workgroup {
  Workgroup(const LaunchContext &context);
  /// (Re)starts it as workgroup `id`.
  void start(std::array<std::uint32_t, 3> id, std::uint64_t linear);
  /// Runs about `instructions` more. True: all waves have ended (or `error` is set).
  bool run(std::uint64_t instructions);
  /// Every workgroup waits: reports the first wave that does.
  void reportHang();
  /// A wave spent its budget.
  bool hangs() const { return stopped; }

  const LaunchContext &context;
  const Op *ops;
  Lds lds;
  std::vector<std::unique_ptr<Wave>> waves;
  std::array<std::uint32_t, 3> id{};
  FindingMap findings;
  std::string error;
  std::uint64_t instructions = 0;
  /// Grows with whatever waiting for another workgroup does not do.
  std::uint64_t advances = 0;
  double matrixFlops = 0;
  bool strict = true;
  std::uint64_t linear = 0; ///< id, x fastest
  /// Strict: each wave's interval (GlobalOrder.h) that the last barrier closed.
  std::array<std::uint32_t, maxGroupWaves> barrierClock{};
  AccessLog::Block ownRecords;
  AccessLog::Block *records = &ownRecords; ///< shared by the workgroups of one thread
  std::uint32_t interval = 0;              ///< barriers so far

private:
  void startWave(Wave &wave, int index);
  void runSlice(Wave &wave, std::uint64_t count);
  bool releaseBarrier();
  std::uint64_t turnLength();

  std::minstd_rand turns;
  std::size_t turn = 0;
  bool stopped = false;
};

} // namespace kw::detail
