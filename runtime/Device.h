// Kernelwright
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Something that runs code objects: the emulator here, HIP where there is a GPU.
#pragma once

#include "ir/CodeObject.h"
#include "ir/support/Expected.h"

#include <array>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace kw {

/// Something that hardware does not forgive, or a wrong result.
struct Finding {
  std::string kind; ///< "out-of-bounds", "uninitialised-register", "lds-race", ...
  std::string kernel;
  std::uint64_t pc = 0;    ///< from the start of the kernel's code
  std::string instruction; ///< disassembled
  std::array<std::uint32_t, 3> workgroup{};
  int wave = -1, lane = -1; ///< -1: the whole workgroup or wave
  std::string detail;
};

enum class Landing;    // runtime/emulator/Emulator.h: early, late, random
enum class MatrixSums; // there: in the order of k (default), or grouped

/// A byte of a manifest buffer.
struct WatchedByte {
  std::size_t buffer = 0; ///< index
  std::uint64_t offset = 0;
};

struct RunOptions {
  bool strict = true;
  std::uint64_t seed = 0;              ///< order of waves
  Landing landing{};                   ///< when data of loads arrive; strict mode needs them early
  bool wildTurns = false;              ///< waves and workgroups in unusual orders
  MatrixSums matrixSums{};             ///< how the emulated device's matrix instructions add
  std::optional<WatchedByte> watch;    ///< strict: whose last writer is wanted
  int jobs = 1;                        ///< results do not depend on it
  std::uint64_t instructionBudget = 0; ///< per wave; 0: the device's default
  /// Linear ids of the workgroups to run, per launch; empty: all.
  std::vector<std::vector<std::uint64_t>> workgroups;
};

struct RunResult {
  std::vector<Finding> findings;
  std::uint64_t instructions = 0, waves = 0;
  double matrixFlops = 0;
  double seconds = 0;                ///< the execution alone
  bool addsFloatsAtomically = false; ///< to global memory: rounding depends on the order
  std::string lastWriter;            ///< of RunOptions::watch; empty: nobody
};

/// Contents of one manifest buffer in device memory, as host bytes.
struct BufferView {
  std::string_view name;
  std::span<std::uint8_t> bytes;
};

class Device {
public:
  virtual ~Device() = default;
  virtual std::string_view name() const = 0;
  /// Runs all launches of a manifest. `buffers` hold the contents before and after, in the order of
  /// manifest.buffers; sizes equal the manifest's. Findings are part of the result, not an error;
  /// an error is what could not be run at all.
  virtual Expected<RunResult> run(const CodeObject &object, std::span<const BufferView> buffers,
                                  const RunOptions &options) = 0;
};

std::unique_ptr<Device> makeEmulatedDevice();
/// How long a GPU may take for a copy or a launch before its process is killed.
constexpr double defaultLimitSeconds = 60;
/// "emulated" or "hip"; the error lists the accepted names, or says what is missing for "hip".
Expected<std::unique_ptr<Device>> makeDevice(std::string_view name,
                                             double limitSeconds = defaultLimitSeconds);

} // namespace kw
