// Kernelwright
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "experiments/kw/Command.h"
#include "experiments/kw/Output.h"
#include "experiments/rungs/CodeObjectFiles.h"
#include "experiments/store/Store.h"
#include "experiments/support/Sha256.h"
#include "runtime/Launcher.h"
#include "runtime/hip/HipDevice.h"
#include "runtime/hip/Measurement.h"

#include <fmt/format.h>
#include <memory>

namespace kw {

namespace {

struct Options {
  std::string path;
  MeasureOptions measure;
};

/// Emulated libraries run kernels, too; how long that takes says nothing about a GPU.
Expected<void> requireGpu(double limitSeconds) {
  const Expected<std::unique_ptr<HipDevice>> device = HipDevice::open(limitSeconds);
  if (!device) {
    return tl::unexpected(Error{device.error().kind, "no GPU found: " + device.error().message});
  }
  if ((*device)->info().isEmulator) {
    return failed(fmt::format("'{}' is no GPU: how long an emulation takes is no time of the "
                              "kernel, so nothing is measured",
                              (*device)->info().name));
  }
  return {};
}

Expected<Measurement> measureLoaded(const LoadedCodeObject &loaded, const MeasureOptions &options) {
  const Manifest &manifest = loaded.object.manifest;
  Expected<std::vector<HostBuffer>> contents =
      fillBuffers(manifest, loaded.manifestFile.parent_path());
  if (!contents) {
    return tl::unexpected(contents.error());
  }
  return measure(loaded.object, viewsOf(manifest, *contents), options);
}

Json measuredJson(const Manifest &manifest, const std::string &hash,
                  const Measurement &measurement) {
  const HipDeviceInfo &device = measurement.device;
  return {{"problem", manifest.problem},
          {"schedule", manifest.schedule},
          {"kernel", manifest.launches.front().kernel},
          {"hsaco_sha256", hash},
          {"time_us", measurement.quantile(0.5)},
          {"source", name(Rung::measured)},
          {"min_us", measurement.quantile(0)},
          {"p10_us", measurement.quantile(0.1)},
          {"p90_us", measurement.quantile(0.9)},
          {"max_us", measurement.quantile(1)},
          {"samples", measurement.samples.size()},
          {"repetitions_per_sample", measurement.repetitionsPerSample},
          {"warm_ups", measurement.warmUps},
          {"sets", measurement.sets},
          {"bytes_per_set", measurement.bytesPerSet},
          {"device", device.name},
          {"arch", device.arch},
          {"max_clock_mhz", device.clockMhz},
          {"runtime_version", device.runtimeVersion},
          {"origin", "kw"},
          {"date", nowUtc()}};
}

std::string measuredText(const Json &json) {
  const auto us = [&](const char *key) { return json[key].get<double>(); };
  return fmt::format("{}: {:.2f} us (measured), 80% of {} samples within {:.2f} to {:.2f} us\n"
                     "on {} ({}, up to {} MHz), {} repetitions a sample over {} sets of buffers\n",
                     json["kernel"].get<std::string>(), us("time_us"), json["samples"].get<int>(),
                     us("p10_us"), us("p90_us"), json["device"].get<std::string>(),
                     json["arch"].get<std::string>(), json["max_clock_mhz"].get<int>(),
                     json["repetitions_per_sample"].get<int>(), json["sets"].get<int>());
}

/// What the time depends on: the code, the launches (a problem says all of them), the device.
std::string keyOf(const Manifest &manifest, const std::string &hash, const std::string &device) {
  return fmt::format("{} | {} | {}", hash,
                     manifest.problem.empty() ? sha256(toJson(manifest).dump()) : manifest.problem,
                     device);
}

Expected<void> keep(const CommonOptions &common, const std::string &key, const Json &json) {
  Expected<Store> store = Store::open(common.db, Store::Access::write);
  if (!store) {
    return tl::unexpected(store.error());
  }
  ResultRecord record;
  record.rung = Rung::measured;
  record.key = key;
  record.value = json;
  return store->keep(record, json["device"].get<std::string>(),
                     {{"arch", json["arch"]},
                      {"max_clock_mhz", json["max_clock_mhz"]},
                      {"runtime_version", json["runtime_version"]}});
}

Expected<ExitStatus> run(const Options &options, const CommonOptions &common) {
  const Expected<LoadedCodeObject> loaded = openCodeObject(options.path);
  if (!loaded) {
    return tl::unexpected(loaded.error());
  }
  if (Expected<void> gpu = requireGpu(options.measure.limitSeconds); !gpu) {
    return tl::unexpected(gpu.error());
  }
  const Expected<Measurement> measurement = measureLoaded(*loaded, options.measure);
  if (!measurement) {
    return tl::unexpected(measurement.error());
  }
  const Manifest &manifest = loaded->object.manifest;
  const std::vector<std::uint8_t> &hsaco = loaded->object.hsaco;
  const std::string hash = sha256(std::span(hsaco));
  const Json json = measuredJson(manifest, hash, *measurement);
  if (Expected<void> kept = keep(common, keyOf(manifest, hash, measurement->device.name), json);
      !kept) {
    return tl::unexpected(kept.error());
  }
  if (Expected<void> printed = print(common, json, measuredText(json)); !printed) {
    return tl::unexpected(printed.error());
  }
  return exitDone;
}

} // namespace

RunCommand addMeasure(CLI::App &app, const CommonOptions &common) {
  const auto options = std::make_shared<Options>();
  app.add_option("DIR|FILE.json", options->path, "launch manifest, or the folder with one")
      ->required();
  app.add_option("--warm-ups", options->measure.warmUps, "repetitions before the first sample")
      ->capture_default_str()
      ->check(CLI::Range(1, 100'000));
  app.add_option("--samples", options->measure.samples, "the median of so many counts")
      ->capture_default_str()
      ->check(CLI::Range(1, 100'000));
  app.add_option("--limit", options->measure.limitSeconds,
                 "seconds for a sample, or the kernel counts as hung")
      ->capture_default_str()
      ->check(CLI::Range(0.1, 1e6));
  return [options, &common] { return run(*options, common); };
}

} // namespace kw
