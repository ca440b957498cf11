// Kernelwright
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Code objects on disk: a manifest and the HSACO that it names.
#pragma once

#include "ir/CodeObject.h"
#include "ir/support/Expected.h"

#include <filesystem>

namespace kw {

/// The only launch manifest in a folder, or the file itself.
Expected<std::filesystem::path> findManifest(const std::filesystem::path &folderOrFile);

struct LoadedCodeObject {
  std::filesystem::path manifestFile; ///< absolute
  CodeObject object;
};

/// Manifest, HSACO and the resources of its kernels; every kernel that the manifest launches must
/// be in the HSACO. Files that are missing, truncated or foreign are bad input.
Expected<LoadedCodeObject> openCodeObject(const std::filesystem::path &folderOrFile);

/// That the manifest was written for another code object than the one beside it, by the hash that
/// it may have; empty: not so.
std::string foreignHash(const LoadedCodeObject &loaded);

} // namespace kw
