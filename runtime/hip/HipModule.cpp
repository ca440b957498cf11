// Kernelwright
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "runtime/hip/HipModule.h"

#include <fmt/format.h>
#include <utility>

namespace kw {

Expected<void> ReadyLaunch::queue(const HipLibrary &library) {
  std::size_t bytes = kernarg.size();
  void *extra[] = {hip::pointerKey, kernarg.data(), hip::sizeKey, &bytes, hip::endKey};
  return library.check(library.moduleLaunchKernel(function, grid[0], grid[1], grid[2], block[0],
                                                  block[1], block[2], dynamicLds, nullptr, nullptr,
                                                  extra),
                       fmt::format("launching '{}'", kernel));
}

Expected<HipModule> HipModule::load(const HipLibrary &library, const HipDeviceInfo &device,
                                    const CodeObject &object) {
  // LoadedCode takes code for gfx950 only: a manifest without a target means that.
  const std::string_view target =
      object.manifest.target.empty() ? "gfx950" : object.manifest.target;
  if (target != device.arch) {
    return badInput(fmt::format("the code object is for {}, but device 'hip' ({}) is {}", target,
                                device.name, device.arch));
  }
  Expected<LoadedCode> code = LoadedCode::load(object.hsaco);
  if (!code) {
    return tl::unexpected<Error>(code.error());
  }
  HipModule module(library, std::move(*code));
  if (auto done = library.check(library.moduleLoadData(&module.module, object.hsaco.data()),
                                "loading the code object");
      !done) {
    return tl::unexpected<Error>(done.error());
  }
  return module;
}

HipModule::HipModule(HipModule &&other) noexcept
    : library(other.library), code(std::move(other.code)),
      module(std::exchange(other.module, nullptr)) {}

HipModule::~HipModule() {
  if (module) {
    library->moduleUnload(module);
  }
}

Expected<std::vector<ReadyLaunch>> HipModule::ready(const Manifest &manifest,
                                                    const AddressOf &addressOf) const {
  std::vector<ReadyLaunch> result;
  for (const Launch &launch : manifest.launches) {
    Expected<std::vector<std::uint8_t>> kernarg = packArguments(launch, code, addressOf);
    if (!kernarg) {
      return tl::unexpected<Error>(kernarg.error());
    }
    ReadyLaunch ready{launch.kernel, nullptr,           launch.grid,
                      launch.block,  launch.dynamicLds, std::move(*kernarg)};
    if (auto done = library->check(
            library->moduleGetFunction(&ready.function, module, launch.kernel.c_str()),
            fmt::format("kernel '{}'", launch.kernel));
        !done) {
      return tl::unexpected<Error>(done.error());
    }
    result.push_back(std::move(ready));
  }
  return result;
}

Expected<OpenedHip> OpenedHip::open() {
  Expected<HipLibrary> library = HipLibrary::open();
  if (!library) {
    return tl::unexpected<Error>(library.error());
  }
  int count = 0;
  if (auto done = library->check(library->init(0), "initialising " + library->file); !done) {
    return tl::unexpected<Error>(done.error());
  }
  if (auto done =
          library->check(library->getDeviceCount(&count), "counting devices of " + library->file);
      !done) {
    return tl::unexpected<Error>(done.error());
  }
  if (count == 0) {
    return failed(fmt::format("device 'hip': {} finds no GPU", library->file));
  }
  if (auto done = library->check(library->setDevice(firstHipDevice), "choosing the device");
      !done) {
    return tl::unexpected<Error>(done.error());
  }
  Expected<HipDeviceInfo> info = library->describe(firstHipDevice);
  if (!info) {
    return tl::unexpected<Error>(info.error());
  }
  return OpenedHip{std::move(*library), std::move(*info)};
}

} // namespace kw
