// Kernelwright
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Where the buffers of a launch are saved. A manifest may come from anybody: it names files in its
// own folder only. Elsewhere is where the user says.
#pragma once

#include "ir/CodeObject.h"
#include "ir/support/Expected.h"

#include <cstdint>
#include <filesystem>
#include <map>
#include <span>
#include <string>
#include <vector>

namespace kw {

/// Buffer name to file: the user's word, which goes before the manifest's. Relative to the current
/// folder.
using SaveRequests = std::map<std::string, std::filesystem::path>;

/// The absolute file of each buffer of the manifest, in order; empty: not saved. Bad input: a name
/// that leads out of `folder` (absolute, `..`, through a symbolic link), is no file's, or is asked
/// for twice; a request for a buffer that there is not.
Expected<std::vector<std::filesystem::path>> savedFiles(const Manifest &manifest,
                                                        const std::filesystem::path &folder,
                                                        const SaveRequests &requests);

/// Written beside (FILE.part) and renamed: the old file may be mapped as a buffer's contents.
Expected<void> writeSaved(const std::filesystem::path &file, std::span<const std::uint8_t> bytes);

} // namespace kw
