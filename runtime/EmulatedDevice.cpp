// Kernelwright
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "runtime/Device.h"

#include "runtime/Kernarg.h"
#include "runtime/emulator/Emulator.h"

#include <cassert>
#include <fmt/format.h>
#include <map>

namespace kw {
namespace {

Finding toFinding(const EmulatorFinding &finding) {
  return {std::string(name(finding.kind)),
          finding.kernel,
          finding.pc,
          finding.instruction,
          finding.workgroup,
          finding.wave,
          finding.lane,
          finding.occurrences > 1
              ? fmt::format("{} ({} times)", finding.detail, finding.occurrences)
              : finding.detail};
}

GlobalMemory::Contents contentsOf(const Buffer &buffer) {
  const bool filled =
      buffer.role == BufferRole::input || buffer.init.kind != BufferInit::Kind::poison;
  return filled ? GlobalMemory::Contents::initialised : GlobalMemory::Contents::uninitialised;
}

/// The buffers of a manifest in emulated memory, over the host's bytes.
class MappedBuffers {
public:
  Expected<void> map(const Manifest &manifest, std::span<const BufferView> views) {
    assert(views.size() == manifest.buffers.size() && "a view for each buffer");
    for (std::size_t i = 0; i < views.size(); ++i) {
      const Buffer &buffer = manifest.buffers[i];
      assert(views[i].name == buffer.name && "views in the manifest's order");
      Expected<std::uint64_t> address = memory.map(buffer.name, views[i].bytes, contentsOf(buffer),
                                                   buffer.role == BufferRole::input);
      if (!address) {
        return tl::unexpected<Error>(address.error());
      }
      addresses[buffer.name] = *address;
    }
    return {};
  }

  std::uint64_t address(std::string_view buffer) const {
    const auto found = addresses.find(buffer);
    assert(found != addresses.end() && "manifests name existing buffers only");
    return found->second;
  }

  GlobalMemory memory;

private:
  std::map<std::string, std::uint64_t, std::less<>> addresses;
};

void add(RunResult &sum, const EmulatorResult &launch) {
  for (const EmulatorFinding &finding : launch.findings) {
    sum.findings.push_back(toFinding(finding));
  }
  sum.instructions += launch.instructions;
  sum.waves += launch.waves;
  sum.matrixFlops += launch.matrixFlops;
  sum.seconds += launch.seconds;
  if (!launch.lastWriter.empty()) {
    sum.lastWriter = launch.lastWriter;
  }
}

EmulatorOptions optionsOf(const RunOptions &options, std::size_t launch) {
  EmulatorOptions result;
  result.strict = options.strict;
  result.seed = options.seed;
  result.jobs = options.jobs;
  result.landing = options.landing;
  result.wildTurns = options.wildTurns;
  result.matrixSums = options.matrixSums;
  if (options.instructionBudget != 0) {
    result.instructionBudget = options.instructionBudget;
  }
  if (launch < options.workgroups.size()) {
    result.workgroups = options.workgroups[launch];
  }
  return result;
}

Expected<EmulatorResult> runLaunch(const LoadedCode &code, const Launch &launch,
                                   MappedBuffers &buffers, const EmulatorOptions &options) {
  Expected<std::vector<std::uint8_t>> kernarg =
      packArguments(launch, code, [&](std::string_view buffer) { return buffers.address(buffer); });
  if (!kernarg) {
    return tl::unexpected<Error>(kernarg.error());
  }
  const EmulatorLaunch what{launch.grid, launch.block, launch.dynamicLds, std::move(*kernarg)};
  return emulate(code, launch.kernel, buffers.memory, what, options);
}

class EmulatedDevice final : public Device {
public:
  std::string_view name() const override { return "emulated"; }

  Expected<RunResult> run(const CodeObject &object, std::span<const BufferView> views,
                          const RunOptions &options) override {
    Expected<LoadedCode> code = LoadedCode::load(object.hsaco);
    if (!code) {
      return tl::unexpected<Error>(code.error());
    }
    MappedBuffers buffers;
    if (Expected<void> mapped = buffers.map(object.manifest, views); !mapped) {
      return tl::unexpected<Error>(mapped.error());
    }
    RunResult sum;
    for (std::size_t i = 0; i < object.manifest.launches.size(); ++i) {
      EmulatorOptions how = optionsOf(options, i);
      if (options.watch) {
        how.watch = buffers.address(views[options.watch->buffer].name) + options.watch->offset;
      }
      Expected<EmulatorResult> result = runLaunch(*code, object.manifest.launches[i], buffers, how);
      if (!result) {
        return tl::unexpected<Error>(result.error());
      }
      add(sum, *result);
      sum.addsFloatsAtomically |=
          code->kernel(object.manifest.launches[i].kernel)->addsFloatsAtomically;
    }
    return sum;
  }
};

} // namespace

std::unique_ptr<Device> makeEmulatedDevice() { return std::make_unique<EmulatedDevice>(); }

} // namespace kw
