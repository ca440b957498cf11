// Kernelwright
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "runtime/hip/Measurement.h"

#include "runtime/hip/Disposable.h"
#include "runtime/hip/HipModule.h"

#include <algorithm>
#include <cassert>
#include <cmath>
#include <fmt/format.h>
#include <nlohmann/json.hpp>
#include <utility>

namespace kw {
namespace {

/// Of a buffer in a set; a page.
constexpr std::uint64_t alignment = 4096;
constexpr int mostRepetitionsPerSample = 100;

std::uint64_t roundUp(std::uint64_t bytes) {
  return (bytes + alignment - 1) / alignment * alignment;
}

/// One allocation with all sets of buffers.
class Arena {
public:
  Arena(const HipLibrary &library, std::span<const BufferView> views)
      : library(library), views(views) {
    for (const BufferView &view : views) {
      offsets.push_back(bytesPerSet);
      bytesPerSet += roundUp(std::max<std::uint64_t>(view.bytes.size(), 1));
    }
    bytesPerSet = std::max(bytesPerSet, alignment);
  }
  Arena(const Arena &) = delete;
  Arena &operator=(const Arena &) = delete;
  ~Arena() {
    if (memory) {
      library.free(memory);
    }
  }

  Expected<void> fill(int count, const Heartbeat &heartbeat) {
    const std::size_t bytes = bytesPerSet * static_cast<std::uint64_t>(count);
    heartbeat(fmt::format("allocating {} bytes", bytes));
    if (auto done = library.check(library.malloc(&memory, bytes),
                                  fmt::format("{} bytes for {} sets of buffers", bytes, count));
        !done) {
      return done;
    }
    for (int set = 0; set < count; ++set) {
      heartbeat(fmt::format("copying set {} of {} to the device", set, count));
      for (std::size_t i = 0; i < views.size(); ++i) {
        if (auto done = library.check(library.memcpy(at(set, i), views[i].bytes.data(),
                                                     views[i].bytes.size(), hip::hostToDevice),
                                      fmt::format("copying '{}' to the device", views[i].name));
            !done) {
          return done;
        }
      }
    }
    return {};
  }

  std::uint64_t address(int set, std::string_view buffer) const {
    const auto found =
        std::find_if(views.begin(), views.end(), [&](auto &view) { return view.name == buffer; });
    assert(found != views.end() && "manifests name existing buffers only");
    return reinterpret_cast<std::uint64_t>(
        at(set, static_cast<std::size_t>(found - views.begin())));
  }

  std::uint64_t bytesPerSet = 0;

private:
  void *at(int set, std::size_t buffer) const {
    return static_cast<char *>(memory) + static_cast<std::uint64_t>(set) * bytesPerSet +
           offsets[buffer];
  }
  const HipLibrary &library;
  std::span<const BufferView> views;
  std::vector<std::uint64_t> offsets;
  void *memory = nullptr;
};

/// Start and stop of a sample.
class EventPair {
public:
  static Expected<EventPair> create(const HipLibrary &library) {
    EventPair pair(library);
    for (hip::Event *event : {&pair.start, &pair.stop}) {
      if (auto done = library.check(library.eventCreate(event), "creating an event"); !done) {
        return tl::unexpected<Error>(done.error());
      }
    }
    return pair;
  }
  EventPair(EventPair &&other) noexcept
      : library(other.library), start(std::exchange(other.start, nullptr)),
        stop(std::exchange(other.stop, nullptr)) {}
  EventPair(const EventPair &) = delete;
  ~EventPair() {
    for (const hip::Event event : {start, stop}) {
      if (event) {
        library->eventDestroy(event);
      }
    }
  }

  Expected<void> recordStart() { return record(start); }
  Expected<void> recordStop() { return record(stop); }
  /// Waits for the stop.
  Expected<double> microseconds() {
    float milliseconds = 0;
    if (auto done = library->check(library->eventSynchronize(stop), "waiting for a sample");
        !done) {
      return tl::unexpected<Error>(done.error());
    }
    if (auto done = library->check(library->eventElapsedTime(&milliseconds, start, stop),
                                   "reading the time of a sample");
        !done) {
      return tl::unexpected<Error>(done.error());
    }
    return 1e3 * milliseconds;
  }

private:
  explicit EventPair(const HipLibrary &library) : library(&library) {}
  Expected<void> record(hip::Event event) {
    return library->check(library->eventRecord(event, nullptr), "recording an event");
  }
  const HipLibrary *library;
  hip::Event start = nullptr, stop = nullptr;
};

/// The child's work.
class Measuring {
public:
  Measuring(const OpenedHip &hip, const MeasureOptions &options, const Heartbeat &heartbeat)
      : hip(hip), options(options), heartbeat(heartbeat) {
    result.device = hip.device;
    result.warmUps = options.warmUps;
  }

  Expected<void> run(const CodeObject &object, std::span<const BufferView> views) {
    const Expected<HipModule> module = HipModule::load(hip.library, hip.device, object);
    if (!module) {
      return tl::unexpected<Error>(module.error());
    }
    Arena arena(hip.library, views);
    result.bytesPerSet = static_cast<std::int64_t>(arena.bytesPerSet);
    result.sets = setsFor(result.bytesPerSet);
    if (auto done = arena.fill(result.sets, heartbeat); !done) {
      return done;
    }
    for (int set = 0; set < result.sets; ++set) {
      auto ready = module->ready(
          object.manifest, [&](std::string_view buffer) { return arena.address(set, buffer); });
      if (!ready) {
        return tl::unexpected<Error>(ready.error());
      }
      launches.push_back(std::move(*ready));
    }
    kernel = object.manifest.launches.front().kernel;
    if (auto warm = warmUp(); !warm) {
      return warm;
    }
    return sampleAll();
  }

  Measurement result;

private:
  int setsFor(std::int64_t bytesPerSet) const {
    const std::int64_t enough = (options.rotatedBytes + bytesPerSet - 1) / bytesPerSet;
    const std::int64_t all =
        options.warmUps + 1 + std::int64_t{options.samples} * mostRepetitionsPerSample;
    return static_cast<int>(std::clamp<std::int64_t>(enough, 2, std::max<std::int64_t>(2, all)));
  }

  Expected<void> repeat(int count) {
    for (int i = 0; i < count; ++i) {
      for (ReadyLaunch &launch : launches[next]) {
        if (auto done = launch.queue(hip.library); !done) {
          return done;
        }
      }
      next = (next + 1) % launches.size();
    }
    return {};
  }

  Expected<void> queueSample(EventPair &events, int repetitions) {
    if (auto done = events.recordStart(); !done) {
      return done;
    }
    if (auto done = repeat(repetitions); !done) {
      return done;
    }
    return events.recordStop();
  }

  /// The first repetition alone, so that a kernel that hangs is told as such; then the others,
  /// whose time decides how many make a sample.
  Expected<void> warmUp() {
    heartbeat(fmt::format("running '{}'", kernel));
    if (auto done = repeat(1); !done) {
      return done;
    }
    if (auto done =
            hip.library.check(hip.library.deviceSynchronize(), fmt::format("running '{}'", kernel));
        !done) {
      return done;
    }
    heartbeat(fmt::format("warming up '{}'", kernel));
    if (auto done = repeat(options.warmUps - 1); !done) {
      return done;
    }
    Expected<EventPair> events = EventPair::create(hip.library);
    if (!events) {
      return tl::unexpected<Error>(events.error());
    }
    if (auto done = queueSample(*events, 1); !done) {
      return done;
    }
    const Expected<double> once = events->microseconds();
    if (!once) {
      return tl::unexpected<Error>(once.error());
    }
    const double wanted = options.sampleMicroseconds / std::max(*once, 1e-3);
    result.repetitionsPerSample =
        static_cast<int>(std::clamp(std::round(wanted), 1.0, double{mostRepetitionsPerSample}));
    return {};
  }

  /// One sample is queued behind the one that runs, so that the GPU does not pause between them.
  Expected<void> sampleAll() {
    std::vector<EventPair> pairs;
    for (int i = 0; i < options.samples; ++i) {
      heartbeat(fmt::format("sample {} of '{}'", i, kernel));
      Expected<EventPair> events = EventPair::create(hip.library);
      if (!events) {
        return tl::unexpected<Error>(events.error());
      }
      pairs.push_back(std::move(*events));
      if (auto done = queueSample(pairs.back(), result.repetitionsPerSample); !done) {
        return done;
      }
      if (i > 0) {
        if (auto done = keep(pairs[static_cast<std::size_t>(i) - 1]); !done) {
          return done;
        }
      }
    }
    return keep(pairs.back());
  }

  Expected<void> keep(EventPair &events) {
    const Expected<double> time = events.microseconds();
    if (!time) {
      return tl::unexpected<Error>(time.error());
    }
    result.samples.push_back(*time / result.repetitionsPerSample);
    return {};
  }

  const OpenedHip &hip;
  const MeasureOptions &options;
  const Heartbeat &heartbeat;
  std::vector<std::vector<ReadyLaunch>> launches; ///< by set
  std::size_t next = 0;
  std::string kernel;
};

std::string toText(const Measurement &measurement) {
  return nlohmann::json{toText(measurement.device), measurement.samples,
                        measurement.warmUps,        measurement.repetitionsPerSample,
                        measurement.sets,           measurement.bytesPerSet}
      .dump();
}

Measurement measurementOf(const std::string &text) {
  const auto json = nlohmann::json::parse(text);
  return {hipDeviceInfo(json[0]), json[1], json[2], json[3], json[4], json[5]};
}

} // namespace

double Measurement::quantile(double share) const {
  std::vector<double> sorted = samples;
  std::sort(sorted.begin(), sorted.end());
  const auto rank = static_cast<std::int64_t>(std::ceil(share * std::ssize(sorted))) - 1;
  return sorted[static_cast<std::size_t>(
      std::clamp<std::int64_t>(rank, 0, std::ssize(sorted) - 1))];
}

Expected<Measurement> measure(const CodeObject &object, std::span<const BufferView> views,
                              const MeasureOptions &options) {
  if (options.samples < 1 || options.warmUps < 1) {
    return badInput("a measurement needs at least one warm-up and one sample");
  }
  const auto work = [&](const Heartbeat &heartbeat) -> Expected<std::string> {
    heartbeat("opening the library");
    const Expected<OpenedHip> hip = OpenedHip::open();
    if (!hip) {
      return tl::unexpected<Error>(hip.error());
    }
    Measuring measuring(*hip, options, heartbeat);
    if (auto done = measuring.run(object, views); !done) {
      return tl::unexpected<Error>(done.error());
    }
    return toText(measuring.result);
  };
  return runDisposable(work, options.limitSeconds).map(measurementOf);
}

} // namespace kw
