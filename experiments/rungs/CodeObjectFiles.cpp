// Kernelwright
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "experiments/rungs/CodeObjectFiles.h"

#include "codegen/Compile.h"
#include "experiments/support/Files.h"
#include "experiments/support/Json.h"
#include "experiments/support/Sha256.h"
#include "runtime/Launcher.h"

#include <algorithm>
#include <fmt/format.h>
#include <fmt/ranges.h>

namespace kw {

namespace fs = std::filesystem;

namespace {

bool isOfBundle(std::string_view file) { return file == "bundle.json" || file == "kernels.json"; }

Expected<fs::path> bundleGiven(const fs::path &path) {
  return badInput(fmt::format("{}: is of a bundle of kernels, not the manifest of one; `kw "
                              "check-bundle DIR` proves a bundle",
                              path.string()));
}

} // namespace

Expected<fs::path> findManifest(const fs::path &folderOrFile) {
  const fs::path path = absolutePath(folderOrFile);
  std::error_code code;
  if (!fs::is_directory(path, code)) {
    if (!fs::exists(path, code)) {
      return badInput(fmt::format("{}: no such file or folder", path.string()));
    }
    return isOfBundle(path.filename().string()) ? bundleGiven(path) : Expected<fs::path>(path);
  }
  std::vector<std::string> names;
  for (const fs::directory_entry &entry : fs::directory_iterator(path, code)) {
    if (entry.path().extension() == ".json") {
      names.push_back(entry.path().filename().string());
    }
  }
  if (code) {
    return badInput(fmt::format("{}: cannot be read: {}", path.string(), code.message()));
  }
  for (const std::string &name : names) {
    if (isOfBundle(name)) {
      return bundleGiven(path);
    }
  }
  if (names.size() != 1) {
    std::sort(names.begin(), names.end());
    return badInput(names.empty()
                        ? fmt::format("{}: there is no manifest (*.json) in it", path.string())
                        : fmt::format("{}: several manifests, name one: {}", path.string(),
                                      fmt::join(names, " ")));
  }
  return path / names.front();
}

namespace {

/// The path stands in front of what is wrong in the file.
tl::unexpected<Error> inFile(const fs::path &file, Error error) {
  error.message = fmt::format("{}: {}", file.string(), error.message);
  return tl::unexpected(std::move(error));
}

Expected<void> checkLaunchedKernels(const CodeObject &object) {
  for (const Launch &launch : object.manifest.launches) {
    const bool known =
        std::any_of(object.kernels.begin(), object.kernels.end(),
                    [&](const KernelResources &kernel) { return kernel.kernel == launch.kernel; });
    if (!known) {
      std::vector<std::string_view> names;
      for (const KernelResources &kernel : object.kernels) {
        names.push_back(kernel.kernel);
      }
      return badInput(fmt::format("kernel: there is no kernel {} in the code object, it has {}",
                                  launch.kernel, fmt::join(names, " ")));
    }
  }
  return {};
}

} // namespace

Expected<LoadedCodeObject> openCodeObject(const fs::path &folderOrFile) {
  const Expected<fs::path> file = findManifest(folderOrFile);
  if (!file) {
    return tl::unexpected(file.error());
  }
  Expected<CodeObject> object = loadCodeObject(*file);
  if (!object) {
    return tl::unexpected(object.error());
  }
  LoadedCodeObject loaded{*file, std::move(*object)};
  Expected<std::vector<KernelResources>> kernels = readResources(loaded.object.hsaco);
  if (!kernels) {
    Error error = kernels.error();
    error.kind = Error::Kind::badInput;
    return inFile(absolutePath(file->parent_path() / loaded.object.manifest.codeObject),
                  std::move(error));
  }
  loaded.object.kernels = std::move(*kernels);
  if (Expected<void> checked = checkLaunchedKernels(loaded.object); !checked) {
    return inFile(*file, checked.error());
  }
  return loaded;
}

std::string foreignHash(const LoadedCodeObject &loaded) {
  const Expected<std::string> text = readText(loaded.manifestFile);
  const Json json = text ? Json::parse(*text, nullptr, /*allow_exceptions=*/false) : Json();
  const Json provenance = json.is_object() ? json.value("provenance", Json()) : Json();
  if (!provenance.is_object() || !provenance.contains("sha256") ||
      provenance["sha256"] == sha256(loaded.object.hsaco)) {
    return {};
  }
  return fmt::format("sha256 of the manifest's provenance is not that of {}",
                     loaded.object.manifest.codeObject);
}

} // namespace kw
