// Kernelwright
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "runtime/Launcher.h"

#include "ir/Expression.h"
#include "ir/KernelPlan.h"
#include "ir/Problem.h"
#include "runtime/HostBuffer.h"
#include "runtime/RandomValues.h"
#include "runtime/Timings.h"

#include <fmt/format.h>
#include <fstream>
#include <nlohmann/json.hpp>
#include <system_error>
#include <unistd.h>

namespace kw {
namespace {

namespace fs = std::filesystem;

/// Of a manifest or code object: far above any real one.
constexpr std::uintmax_t maximumBytes = std::uintmax_t(1) << 30;

Expected<std::vector<std::uint8_t>> readFile(const fs::path &file) {
  std::error_code error;
  if (fs::exists(file, error) && !fs::is_regular_file(file, error)) {
    return badInput(fmt::format("{}: not a regular file", file.string()));
  }
  const std::uintmax_t size = fs::file_size(file, error);
  if (error || size == 0 || size > maximumBytes) {
    return badInput(fmt::format("{}: {}", file.string(),
                                error ? error.message() : (size == 0 ? "empty" : "too large")));
  }
  std::ifstream stream(file, std::ios::binary);
  std::vector<std::uint8_t> bytes(size);
  if (!stream.read(reinterpret_cast<char *>(bytes.data()), static_cast<std::streamsize>(size))) {
    return badInput(fmt::format("{}: cannot be read", file.string()));
  }
  return bytes;
}

RandomSource randomSource(const BufferInit &init) {
  RandomSource source;
  source.seed = init.seed;
  switch (init.kind) {
  case BufferInit::Kind::uniform:
    source.kind = RandomSource::Kind::uniform;
    break;
  case BufferInit::Kind::integers:
    source.kind = RandomSource::Kind::integers;
    break;
  case BufferInit::Kind::bytes:
    source.kind = RandomSource::Kind::bytes;
    break;
  default:
    source.kind = RandomSource::Kind::normal;
    break;
  }
  return source;
}

Expected<HostBuffer> makeBuffer(const Buffer &buffer, const fs::path &folder) {
  switch (buffer.init.kind) {
  case BufferInit::Kind::zero:
    return HostBuffer::zeroed(buffer.bytes);
  case BufferInit::Kind::poison:
    return HostBuffer::poisoned(buffer.bytes);
  case BufferInit::Kind::file:
    return HostBuffer::ofFile(folder / buffer.init.file, buffer.bytes);
  default:
    break;
  }
  Expected<HostBuffer> filled = HostBuffer::zeroed(buffer.bytes);
  if (filled) {
    const ElementType type = buffer.init.dtype;
    fillRandom(randomSource(buffer.init), type, filled->bytes().data(), 0,
               buffer.bytes * 8 / bitWidth(type));
  }
  return filled;
}

/// What is filled or saved takes memory as large as it claims to be, all else what is touched; but
/// kernels may touch all.
Expected<void> checkMemory(const Manifest &manifest) {
  const auto pages = static_cast<std::uint64_t>(sysconf(_SC_PHYS_PAGES));
  const std::uint64_t memory = pages * static_cast<std::uint64_t>(sysconf(_SC_PAGESIZE));
  std::uint64_t left = memory;
  for (const Buffer &buffer : manifest.buffers) {
    const auto bytes = static_cast<std::uint64_t>(buffer.bytes);
    if (bytes > left) {
      return failed(fmt::format("the buffers up to '{}' take more than this machine's {} bytes of "
                                "memory",
                                buffer.name, memory));
    }
    left -= bytes;
  }
  return {};
}

Expected<std::vector<SavedBuffer>> saveBuffers(const Manifest &manifest,
                                               const std::vector<fs::path> &files,
                                               const std::vector<HostBuffer> &contents) {
  std::vector<SavedBuffer> saved;
  for (std::size_t i = 0; i < contents.size(); ++i) {
    if (files[i].empty()) {
      continue;
    }
    if (Expected<void> written = writeSaved(files[i], contents[i].bytes()); !written) {
      return tl::unexpected<Error>(written.error());
    }
    saved.push_back({manifest.buffers[i].name, files[i].string(), manifest.buffers[i].bytes});
  }
  return saved;
}

} // namespace

Expected<CodeObject> loadCodeObject(const fs::path &manifestFile) {
  Expected<std::vector<std::uint8_t>> text = readFile(manifestFile);
  if (!text) {
    return tl::unexpected<Error>(text.error());
  }
  const auto json = nlohmann::json::parse(*text, nullptr, false);
  if (json.is_discarded()) {
    return badInput(fmt::format("{}: not JSON", manifestFile.string()));
  }
  Expected<Manifest> manifest = parseManifest(json);
  if (!manifest) {
    Error error = manifest.error();
    error.message = fmt::format("{}: {}", manifestFile.string(), error.message);
    return tl::unexpected<Error>(std::move(error));
  }
  Expected<std::vector<std::uint8_t>> hsaco =
      readFile(manifestFile.parent_path() / manifest->codeObject);
  if (!hsaco) {
    return tl::unexpected<Error>(hsaco.error());
  }
  return CodeObject{std::move(*hsaco), std::move(*manifest), {}};
}

Expected<void> checkGuards(const Manifest &manifest) {
  if (manifest.problem.empty()) {
    return {};
  }
  Expected<Problem> problem = parseProblem(manifest.problem);
  if (!problem) {
    return tl::unexpected<Error>(problem.error());
  }
  for (const std::string &guard : manifest.guards) {
    Expected<std::int64_t> holds = evaluate(guard, runtimeSizes(*problem));
    if (!holds) {
      return badInput(fmt::format("guard '{}': {}", guard, holds.error().message));
    }
    if (*holds == 0) {
      return badInput(
          fmt::format("the kernel's guard '{}' does not hold for '{}'", guard, manifest.problem));
    }
  }
  return {};
}

Expected<std::vector<HostBuffer>> fillBuffers(const Manifest &manifest, const fs::path &folder) {
  if (Expected<void> fits = checkMemory(manifest); !fits) {
    return tl::unexpected<Error>(fits.error());
  }
  std::vector<HostBuffer> buffers;
  for (const Buffer &buffer : manifest.buffers) {
    Expected<HostBuffer> made = makeBuffer(buffer, folder);
    if (!made) {
      Error error = made.error();
      error.message = fmt::format("buffer '{}': {}", buffer.name, error.message);
      return tl::unexpected<Error>(std::move(error));
    }
    buffers.push_back(std::move(*made));
  }
  return buffers;
}

std::vector<BufferView> viewsOf(const Manifest &manifest, std::span<HostBuffer> contents) {
  std::vector<BufferView> views;
  views.reserve(contents.size());
  for (std::size_t i = 0; i < contents.size(); ++i) {
    views.push_back({manifest.buffers[i].name, contents[i].bytes()});
  }
  return views;
}

Expected<TimedRun> runFromFresh(const CodeObject &object, const fs::path &folder, Device &device,
                                const RunOptions &how) {
  Expected<std::vector<HostBuffer>> contents = fillBuffers(object.manifest, folder);
  if (!contents) {
    return tl::unexpected<Error>(contents.error());
  }
  Expected<RunResult> run = device.run(object, viewsOf(object.manifest, *contents), how);
  if (!run) {
    return tl::unexpected<Error>(run.error());
  }
  return TimedRun{std::move(*run), std::move(*contents)};
}

Expected<LaunchOutcome> launch(const CodeObject &object, const fs::path &folder, Device &device,
                               const LaunchOptions &options) {
  if (Expected<void> guarded = checkGuards(object.manifest); !guarded) {
    return tl::unexpected<Error>(guarded.error());
  }
  const Expected<std::vector<fs::path>> files = savedFiles(object.manifest, folder, options.save);
  if (!files) {
    return tl::unexpected<Error>(files.error());
  }
  if (options.schedules > 0 && device.name() != "emulated") {
    return badInput(fmt::format("the {} device has no say in its timing: schedules need the "
                                "emulated one",
                                device.name()));
  }
  if (options.matrixSums != MatrixSums{} && device.name() != "emulated") {
    return badInput(fmt::format("the {} device adds as its hardware does: grouped matrix sums need "
                                "the emulated one",
                                device.name()));
  }
  const auto runWith = [&](const RunOptions &how) {
    return runFromFresh(object, folder, device, how);
  };
  RunOptions how;
  how.strict = options.strict;
  how.seed = options.seed;
  how.jobs = options.jobs;
  how.matrixSums = options.matrixSums;
  Expected<TimedRun> run = runWith(how);
  if (!run) {
    return tl::unexpected<Error>(run.error());
  }
  if (options.schedules > 0 && run->result.findings.empty()) {
    Expected<std::vector<Finding>> findings = compareTimings(
        object.manifest, *run, timings(options.schedules, options.seed), how, runWith);
    if (!findings) {
      return tl::unexpected<Error>(findings.error());
    }
    run->result.findings = std::move(*findings);
  }
  Expected<std::vector<SavedBuffer>> saved = saveBuffers(object.manifest, *files, run->contents);
  if (!saved) {
    return tl::unexpected<Error>(saved.error());
  }
  return LaunchOutcome{std::move(run->result), std::move(*saved)};
}

} // namespace kw
