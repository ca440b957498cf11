// Kernelwright
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Compiling a schedule into files: HSACO, launch manifest, and what the compiler says of them.
#pragma once

#include "codegen/Compile.h"
#include "costmodel/CostModel.h"
#include "experiments/support/Json.h"

#include <filesystem>
#include <string>

namespace kw {

/// Names of the files in `folder`.
struct CompiledFiles {
  std::filesystem::path hsaco, manifest; ///< absolute
};

/// What `kw compile` prints. Over several kernels: registers and LDS are the largest, spills and
/// scratch add up, occupancy is the smallest.
Json compiledJson(const Problem &problem, const Schedule &schedule, const Compiled &compiled,
                  const CompiledFiles &files);

/// What the model reads of a code object that is already there.
Expected<CompiledFacts> compiledFacts(const CodeObject &object);

/// Writes STEM.hsaco and STEM.json (manifest and `provenance`) and one file a kept text.
Expected<CompiledFiles> writeCompiled(const Compiled &compiled, const std::filesystem::path &folder,
                                      const std::string &stem);

/// Where a content addressed kernel lies: <sha256>.hsaco, shared by all problems that compile to
/// it, and <sha256>.<start of the problem's hash>.json. `problem` is the canonical text.
CompiledFiles artifactFiles(const std::filesystem::path &folder, const std::string &hash,
                            const std::string &problem);

/// Whether a content addressed HSACO is there and holds what its name says.
bool isIntactArtifact(const std::filesystem::path &hsaco);

/// Writes both.
Expected<CompiledFiles> writeArtifact(const Compiled &compiled,
                                      const std::filesystem::path &folder);

/// The manifest with its provenance; `hash` is the HSACO's.
Expected<void> writeManifest(const Manifest &manifest, const std::string &hash,
                             const std::filesystem::path &file);

} // namespace kw
