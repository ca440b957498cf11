// Kernelwright
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "runtime/Timings.h"

#include "runtime/emulator/Emulator.h"

#include <algorithm>
#include <cassert>
#include <fmt/format.h>
#include <optional>

namespace kw {
namespace {

struct Difference {
  std::size_t buffer = 0;
  std::uint64_t offset = 0, bytes = 0; ///< first byte, number of bytes that differ
  std::uint8_t expected = 0, found = 0;
};

std::optional<Difference> firstDifference(const Manifest &manifest, const TimedRun &expected,
                                          const TimedRun &found) {
  for (std::size_t i = 0; i < manifest.buffers.size(); ++i) {
    if (manifest.buffers[i].role != BufferRole::output) {
      continue;
    }
    const auto a = expected.contents[i].bytes(), b = found.contents[i].bytes();
    const auto at = std::mismatch(a.begin(), a.end(), b.begin()).first;
    if (at == a.end()) {
      continue;
    }
    Difference difference;
    difference.buffer = i;
    difference.offset = static_cast<std::uint64_t>(at - a.begin());
    difference.expected = a[difference.offset];
    difference.found = b[difference.offset];
    for (std::size_t byte = difference.offset; byte < a.size(); ++byte) {
      difference.bytes += a[byte] != b[byte];
    }
    return difference;
  }
  return std::nullopt;
}

Finding complain(const Manifest &manifest, const Difference &difference, const Timing &timing,
                 const std::string &writer) {
  Finding finding;
  finding.kind = "order-dependent";
  finding.kernel = manifest.launches.front().kernel;
  finding.instruction = writer.empty() ? "?" : writer.substr(0, writer.find(" at 0x"));
  finding.detail = fmt::format(
      "with {} {} bytes of '{}' differ, the first at offset {} ({:#04x} instead of {:#04x}), "
      "last written by {}",
      describe(timing), difference.bytes, manifest.buffers[difference.buffer].name,
      difference.offset, difference.found, difference.expected,
      writer.empty() ? "nobody in the strict run" : writer);
  return finding;
}

} // namespace

std::vector<Timing> timings(int count, std::uint64_t seed) {
  std::vector<Timing> result;
  for (int i = 0; i < count; ++i) {
    const Landing landing = i == 0 ? Landing::late : i == 1 ? Landing::early : Landing::random;
    result.push_back({landing, true, seed + static_cast<std::uint64_t>(i)});
  }
  return result;
}

std::string describe(const Timing &timing) {
  const char *when = timing.landing == Landing::early  ? "early"
                     : timing.landing == Landing::late ? "late"
                                                       : "at random";
  return fmt::format("data that land {}, seed {},", when, timing.seed);
}

RunOptions underTiming(RunOptions options, const Timing &timing) {
  options.strict = false;
  options.landing = timing.landing;
  options.wildTurns = timing.wildTurns;
  options.seed = timing.seed;
  options.watch.reset();
  return options;
}

Expected<std::vector<Finding>>
compareTimings(const Manifest &manifest, const TimedRun &expected,
               const std::vector<Timing> &timings, const RunOptions &options,
               const std::function<Expected<TimedRun>(const RunOptions &)> &run) {
  std::vector<Finding> findings;
  for (const Timing &timing : timings) {
    Expected<TimedRun> other = run(underTiming(options, timing));
    if (!other) {
      return tl::unexpected<Error>(other.error());
    }
    for (Finding finding : other->result.findings) {
      finding.detail += fmt::format(" [{}]", describe(timing));
      findings.push_back(std::move(finding));
    }
    if (!findings.empty()) {
      break;
    }
    if (expected.result.addsFloatsAtomically) {
      continue;
    }
    if (const auto difference = firstDifference(manifest, expected, *other)) {
      RunOptions watching = options;
      watching.strict = true;
      watching.watch = {difference->buffer, difference->offset};
      Expected<TimedRun> watched = run(watching);
      if (!watched) {
        return tl::unexpected<Error>(watched.error());
      }
      findings.push_back(complain(manifest, *difference, timing, watched->result.lastWriter));
      break;
    }
  }
  return findings;
}

} // namespace kw
