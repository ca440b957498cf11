// Kernelwright
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "runtime/emulator/Emulator.h"

#include "runtime/emulator/Workgroup.h"
#include "runtime/emulator/semantics/Apertures.h"

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstring>
#include <fmt/core.h>
#include <mutex>
#include <random>
#include <thread>
#include <variant>

namespace kw {

namespace {

using namespace detail;

/// Workgroups of a communicating kernel that are live at the same time. More than any tile's
/// slices; bounded by memory (half a megabyte a workgroup and more, and its scratch).
constexpr std::size_t residentWorkgroups = 64;
constexpr std::uint64_t residentScratchBytes = std::uint64_t{1} << 30;
/// Instructions of all residents together without any progress that make a hang.
constexpr std::uint64_t patience = 100'000'000;
/// Instructions after which the next resident workgroup has its turn.
constexpr std::uint64_t quantum = 20'000;

Expected<std::monostate> checkLaunch(const KernelCode &kernel, const EmulatorLaunch &launch) {
  const KernelFacts &facts = kernel.facts;
  std::uint64_t items = 1, groups = 1;
  for (int axis = 0; axis < 3; ++axis) {
    if (launch.grid[axis] == 0 || launch.block[axis] == 0 || launch.block[axis] > 1024) {
      return badInput(fmt::format("{}: grid and block sizes must be at least 1, block at most 1024",
                                  facts.name));
    }
    items *= launch.block[axis];
    groups *= launch.grid[axis];
    if (groups > 0xffffffff) {
      return badInput(fmt::format("{}: more than 2^32 workgroups", facts.name));
    }
  }
  if (items > 1024 || (facts.maxWorkgroupSize != 0 && items > facts.maxWorkgroupSize)) {
    return badInput(fmt::format("{}: block of {} work-items, the kernel takes at most {}",
                                facts.name, items,
                                std::min<std::uint32_t>(1024, facts.maxWorkgroupSize)));
  }
  if (facts.requiredWorkgroupSize && *facts.requiredWorkgroupSize != launch.block) {
    const auto &size = *facts.requiredWorkgroupSize;
    return badInput(fmt::format("{}: the kernel is compiled for blocks of {}x{}x{}", facts.name,
                                size[0], size[1], size[2]));
  }
  const std::uint64_t ldsBytes = std::uint64_t{kernel.descriptor.ldsBytes} + launch.dynamicLds;
  if (ldsBytes > Lds::capacity) {
    return badInput(
        fmt::format("{}: {} bytes of LDS, a CU has {}", facts.name, ldsBytes, Lds::capacity));
  }
  const std::uint32_t kernargBytes = std::max(facts.kernargBytes, kernel.descriptor.kernargBytes);
  if (launch.kernarg.size() > std::max<std::size_t>(kernargBytes, 64)) {
    return badInput(fmt::format("{}: {} bytes of arguments, the kernel takes {}", facts.name,
                                launch.kernarg.size(), kernargBytes));
  }
  return std::monostate();
}

/// Value of a hidden argument. [gfx950.md 4.4]
std::uint64_t hiddenValue(const std::string &kind, const LaunchContext &context) {
  const auto &grid = context.launch.grid, &block = context.launch.block;
  const std::uint32_t dims = grid[2] * block[2] > 1 ? 3 : grid[1] * block[1] > 1 ? 2 : 1;
  const struct {
    std::string_view kind;
    std::uint64_t value;
  } rows[] = {
      {"hidden_block_count_x", grid[0]},
      {"hidden_block_count_y", grid[1]},
      {"hidden_block_count_z", grid[2]},
      {"hidden_group_size_x", block[0]},
      {"hidden_group_size_y", block[1]},
      {"hidden_group_size_z", block[2]},
      {"hidden_grid_dims", dims},
      {"hidden_dynamic_lds_size", context.launch.dynamicLds},
      {"hidden_private_base", aperture::scratch >> 32},
      {"hidden_shared_base", aperture::shared >> 32},
  };
  for (const auto &row : rows) {
    if (row.kind == kind) {
      return row.value;
    }
  }
  return 0; // remainders, offsets, pointers to services that there are not
}

/// The launch's own allocations, gone when it ends.
class LaunchMemory {
public:
  explicit LaunchMemory(GlobalMemory &memory) : memory(memory) {}
  ~LaunchMemory() {
    for (const std::uint64_t address : owned) {
      memory.release(address);
    }
  }
  LaunchMemory(const LaunchMemory &) = delete;

  Expected<std::uint64_t> add(std::string name, std::uint64_t bytes) {
    auto address =
        memory.allocate(std::move(name), bytes, GlobalMemory::Contents::initialised, true);
    if (address) {
      owned.push_back(*address);
    }
    return address;
  }

private:
  GlobalMemory &memory;
  std::vector<std::uint64_t> owned;
};

/// Stamps of who touched what (GlobalOrder.h), for the time of a launch.
struct StampedMemory {
  StampedMemory(GlobalMemory &memory, bool wanted)
      : memory(memory), ready(wanted ? memory.beginStamps() : Expected<void>()) {}
  ~StampedMemory() { memory.endStamps(); }
  StampedMemory(const StampedMemory &) = delete;
  GlobalMemory &memory;
  Expected<void> ready;
};

Expected<std::monostate> prepare(const CodeImage &image, LaunchContext &context,
                                 LaunchMemory &memory) {
  const KernelCode &kernel = *context.kernel;
  const std::uint32_t kernargBytes =
      std::max({kernel.facts.kernargBytes, kernel.descriptor.kernargBytes,
                static_cast<std::uint32_t>(context.launch.kernarg.size())});
  // Rounded up: scalar loads of argument vectors may cover the padding behind the last one.
  auto kernarg = memory.add("kernel arguments", (kernargBytes + 63) / 64 * 64);
  auto packet = memory.add("dispatch packet", 64);
  std::uint64_t imageBytes = 0;
  for (const Segment &segment : image.segments) {
    imageBytes = std::max(imageBytes, segment.address + segment.memoryBytes);
  }
  auto code = memory.add("code object", imageBytes);
  for (const auto *result : {&kernarg, &packet, &code}) {
    if (!*result) {
      return tl::unexpected<Error>(result->error());
    }
  }
  context.kernarg = *kernarg;
  context.dispatchPacket = *packet;
  context.codeBase = *code;
  const auto arguments = context.memory->bytes(*kernarg);
  std::copy(context.launch.kernarg.begin(), context.launch.kernarg.end(), arguments.begin());
  for (const MetadataArgument &argument : kernel.facts.arguments) {
    if (argument.hidden() && argument.size <= 8 &&
        argument.offset + argument.size <= arguments.size()) {
      const std::uint64_t value = hiddenValue(argument.kind, context);
      std::memcpy(arguments.data() + argument.offset, &value, argument.size);
    }
  }
  const auto words = context.memory->bytes(*packet);
  for (int axis = 0; axis < 3; ++axis) {
    const auto size = static_cast<std::uint16_t>(context.launch.block[axis]);
    const std::uint32_t items = context.launch.grid[axis] * context.launch.block[axis];
    std::memcpy(words.data() + 4 + 2 * axis, &size, 2);
    std::memcpy(words.data() + 12 + 4 * axis, &items, 4);
  }
  std::memcpy(words.data() + 24, &kernel.descriptor.scratchBytes, 4);
  std::memcpy(words.data() + 28, &context.ldsBytes, 4);
  std::memcpy(words.data() + 40, &context.kernarg, 8);
  const auto loaded = context.memory->bytes(*code);
  for (const Segment &segment : image.segments) {
    std::copy(segment.bytes.begin(), segment.bytes.end(), loaded.begin() + segment.address);
  }
  return std::monostate();
}

/// Results of the workgroups that one thread has run.
struct Tally {
  struct First {
    std::uint64_t workgroup;
    EmulatorFinding finding;
  };
  std::map<FindingKey, First> findings;
  std::uint64_t instructions = 0, waves = 0, workgroups = 0;
  double matrixFlops = 0;
  std::string error;
  std::uint64_t errorWorkgroup = 0;

  void addFinding(const FindingKey &key, std::uint64_t workgroup, const EmulatorFinding &finding) {
    auto [at, isNew] = findings.try_emplace(key, First{workgroup, finding});
    if (isNew) {
      return;
    }
    const std::uint64_t total = at->second.finding.occurrences + finding.occurrences;
    if (workgroup < at->second.workgroup) {
      at->second = {workgroup, finding};
    }
    at->second.finding.occurrences = total;
  }
  void addError(std::string text, std::uint64_t workgroup) {
    if (!text.empty() && (error.empty() || workgroup < errorWorkgroup)) {
      error = std::move(text);
      errorWorkgroup = workgroup;
    }
  }
  void add(Workgroup &group, std::uint64_t workgroup) {
    for (const auto &[key, finding] : group.findings) {
      addFinding(key, workgroup, finding);
    }
    instructions += group.instructions;
    waves += group.waves.size();
    ++workgroups;
    matrixFlops += group.matrixFlops;
    addError(group.error, workgroup);
  }
  void add(const Tally &other) {
    for (const auto &[key, first] : other.findings) {
      addFinding(key, first.workgroup, first.finding);
    }
    instructions += other.instructions;
    waves += other.waves;
    workgroups += other.workgroups;
    matrixFlops += other.matrixFlops;
    addError(other.error, other.errorWorkgroup);
  }
  /// A hang ends the launch: what later workgroups did by then is a matter of chance.
  void dropBehindHang() {
    std::uint64_t last = ~std::uint64_t{0};
    for (const auto &[key, first] : findings) {
      last = key.second == FindingKind::hang ? std::min(last, first.workgroup) : last;
    }
    std::erase_if(findings, [&](const auto &entry) { return entry.second.workgroup > last; });
  }
};

class Runner {
public:
  explicit Runner(const LaunchContext &context) : context(context) {
    const auto &grid = context.launch.grid;
    total = context.options.workgroups.empty() ? std::uint64_t{grid[0]} * grid[1] * grid[2]
                                               : context.options.workgroups.size();
  }

  Tally run() {
    Tally result = context.kernel->communicates ? runInterleaved() : runParallel();
    result.dropBehindHang();
    return result;
  }

private:
  Tally runParallel() {
    const std::uint64_t jobs =
        std::clamp<std::uint64_t>(static_cast<std::uint64_t>(std::max(1, context.options.jobs)), 1,
                                  std::max<std::uint64_t>(1, total));
    std::vector<Tally> tallies(jobs);
    std::vector<std::thread> threads;
    for (std::uint64_t i = 1; i < jobs; ++i) {
      threads.emplace_back([&, i] { runIndependent(tallies[i], jobs); });
    }
    runIndependent(tallies[0], jobs);
    for (std::thread &thread : threads) {
      thread.join();
    }
    Tally result;
    for (const Tally &tally : tallies) {
      result.add(tally);
    }
    return result;
  }

  std::uint64_t linearOf(std::uint64_t i) const {
    return context.options.workgroups.empty() ? i : context.options.workgroups[i];
  }
  /// The i-th workgroup to start; wild: a rotation, or the reverse of it.
  std::uint64_t orderedOf(std::uint64_t i) const {
    if (context.options.wildTurns) {
      const std::uint64_t rotated = (i + context.options.seed * 0x9e3779b1 % total) % total;
      return linearOf(context.options.seed & 1 ? total - 1 - rotated : rotated);
    }
    return linearOf(i);
  }
  std::size_t residentLimit() const {
    const auto &block = context.launch.block;
    const std::uint64_t scratch = std::uint64_t{block[0]} * block[1] * block[2] *
                                  std::max(1u, context.kernel->descriptor.scratchBytes);
    return std::clamp<std::uint64_t>(residentScratchBytes / scratch, 1, residentWorkgroups);
  }
  void start(Workgroup &group, std::uint64_t linear) const {
    const auto &grid = context.launch.grid;
    group.start({static_cast<std::uint32_t>(linear % grid[0]),
                 static_cast<std::uint32_t>(linear / grid[0] % grid[1]),
                 static_cast<std::uint32_t>(linear / grid[0] / grid[1])},
                linear);
  }

  /// The next workgroups for a thread: neighbours, which store next to each other, as many as leave
  /// the threads something to balance with. Few, as they run to the end when a later one has
  /// failed.
  struct Range {
    std::uint64_t begin, end;
  };
  Range claim(std::uint64_t jobs) {
    Range range{next, 0};
    do {
      const std::uint64_t left = total - range.begin;
      range.end = range.begin + std::min({left, 1 + left / (4 * jobs), std::uint64_t{64}});
    } while (!next.compare_exchange_weak(range.begin, range.end));
    return range;
  }

  void runIndependent(Tally &tally, std::uint64_t jobs) {
    Workgroup group(context);
    for (Range range = claim(jobs); range.begin < range.end; range = claim(jobs)) {
      // Those before one that failed run whatever happens: what is reported is the first failure.
      for (std::uint64_t i = range.begin; i < range.end && i <= failedAt; ++i) {
        const std::uint64_t linear = orderedOf(i);
        start(group, linear);
        while (!group.run(~std::uint64_t{0} >> 1)) {
        }
        tally.add(group, linear);
        if (!group.error.empty() || group.hangs()) {
          failAt(i);
        }
      }
    }
  }

  void failAt(std::uint64_t i) {
    for (std::uint64_t first = failedAt; i < first;) {
      failedAt.compare_exchange_weak(first, i);
    }
  }

  struct Resident {
    std::unique_ptr<Workgroup> group;
    std::uint64_t linear;
  };

  /// Workgroups that communicate take turns in one thread: their order, and so the result of
  /// floating-point atomics, is the same every time.
  Tally runInterleaved() {
    std::vector<Resident> residents;
    Tally tally;
    std::uint64_t started = 0;
    AccessLog::Block records;
    const bool wild = context.options.wildTurns;
    std::minstd_rand turns(static_cast<std::uint32_t>(context.options.seed) + 1);
    turns.discard(3);
    idle = 0;
    bool failed = false;
    const std::size_t limit = residentLimit();
    while (tally.error.empty() && !failed && (started < total || !residents.empty())) {
      while (residents.size() < limit && started < total) {
        const std::uint64_t linear = orderedOf(started++);
        residents.push_back({std::make_unique<Workgroup>(context), linear});
        residents.back().group->records = &records;
        start(*residents.back().group, linear);
        idle = 0;
      }
      // Wild: some go before their turn.
      const std::size_t first = wild ? turns() / 16 % residents.size() : 0;
      for (std::size_t i = first; i < residents.size();) {
        if (advance(residents[i], wild ? std::uint64_t{16} << turns() / 16 % 12 : quantum)) {
          tally.add(*residents[i].group, residents[i].linear);
          failed = failed || residents[i].group->hangs();
          residents.erase(residents.begin() + static_cast<std::ptrdiff_t>(i));
        } else {
          ++i;
        }
      }
      if (idle > patience) {
        for (Resident &resident : residents) {
          resident.group->reportHang();
          tally.add(*resident.group, resident.linear);
        }
        break;
      }
    }
    return tally;
  }

  /// True: it has ended.
  bool advance(Resident &resident, std::uint64_t instructions) {
    Workgroup &group = *resident.group;
    const std::uint64_t before = group.instructions, advances = group.advances;
    const bool ended = group.run(instructions);
    idle = ended || group.advances != advances ? 0 : idle + group.instructions - before;
    return ended;
  }

  const LaunchContext &context;
  std::uint64_t total = 0;
  std::uint64_t idle = 0; ///< instructions since any resident has advanced
  std::atomic<std::uint64_t> next{0};
  /// The first that failed or hangs: none behind it is started any more.
  std::atomic<std::uint64_t> failedAt{~std::uint64_t{0}};
};

} // namespace

Expected<EmulatorResult> emulate(const LoadedCode &code, std::string_view kernelName,
                                 GlobalMemory &memory, const EmulatorLaunch &launch,
                                 const EmulatorOptions &options) {
  const KernelCode *kernel = code.image().find(kernelName);
  if (!kernel) {
    return badInput(fmt::format("the code object has no kernel '{}'", kernelName));
  }
  if (auto checked = checkLaunch(*kernel, launch); !checked) {
    return tl::unexpected<Error>(checked.error());
  }
  if (options.strict && options.landing != Landing::early) {
    return badInput("strict mode judges data that land at issue: landing late or at random needs "
                    "strict mode off");
  }
  LaunchContext context;
  context.kernel = kernel;
  context.memory = &memory;
  context.launch = launch;
  context.options = options;
  context.ldsBytes = kernel->descriptor.ldsBytes + launch.dynamicLds;
  const std::uint64_t groups = std::uint64_t{launch.grid[0]} * launch.grid[1] * launch.grid[2];
  for (const std::uint64_t linear : options.workgroups) {
    if (linear >= groups) {
      return badInput(fmt::format("workgroup {} of {}", linear, groups));
    }
  }
  LaunchMemory own(memory);
  if (auto prepared = prepare(code.image(), context, own); !prepared) {
    return tl::unexpected<Error>(prepared.error());
  }
  const StampedMemory stamped(memory, options.strict);
  if (!stamped.ready) {
    return tl::unexpected<Error>(stamped.ready.error());
  }
  const auto log = std::make_unique<AccessLog>(options.jobs > 1 && !kernel->communicates);
  context.log = log.get();
  const auto begin = std::chrono::steady_clock::now();
  Tally tally = Runner(context).run();
  if (!tally.error.empty()) {
    return failed(std::move(tally.error));
  }
  EmulatorResult result;
  result.seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
  result.instructions = tally.instructions;
  result.waves = tally.waves;
  result.workgroups = tally.workgroups;
  result.matrixFlops = tally.matrixFlops;
  if (options.strict && options.watch != 0) {
    result.lastWriter = describeWriter(*log, context, options.watch);
  }
  std::vector<Tally::First> ordered;
  for (auto &[key, first] : tally.findings) {
    ordered.push_back(std::move(first));
  }
  std::stable_sort(ordered.begin(), ordered.end(), [](const auto &a, const auto &b) {
    return a.workgroup != b.workgroup ? a.workgroup < b.workgroup : a.finding.pc < b.finding.pc;
  });
  for (auto &first : ordered) {
    result.findings.push_back(std::move(first.finding));
  }
  return result;
}

} // namespace kw
