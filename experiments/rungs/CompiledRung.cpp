// Kernelwright
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "experiments/rungs/CompiledRung.h"

#include "experiments/support/Files.h"
#include "experiments/support/Sha256.h"

#include <algorithm>
#include <fmt/format.h>

namespace kw {

namespace fs = std::filesystem;

namespace {

KernelResources combined(const std::vector<KernelResources> &kernels) {
  KernelResources all;
  bool first = true;
  for (const KernelResources &kernel : kernels) {
    all.vgpr = std::max(all.vgpr, kernel.vgpr);
    all.agpr = std::max(all.agpr, kernel.agpr);
    all.sgpr = std::max(all.sgpr, kernel.sgpr);
    all.vgprSpills += kernel.vgprSpills;
    all.sgprSpills += kernel.sgprSpills;
    all.ldsBytes = std::max(all.ldsBytes, kernel.ldsBytes);
    all.scratchBytes += kernel.scratchBytes;
    all.occupancy = first ? kernel.occupancy : std::min(all.occupancy, kernel.occupancy);
    first = false;
  }
  return all;
}

Expected<CompiledFiles> writeBoth(const Compiled &compiled, const CompiledFiles &files) {
  if (Expected<void> done = writeFile(files.hsaco, compiled.object.hsaco); !done) {
    return tl::unexpected(done.error());
  }
  Manifest manifest = compiled.object.manifest;
  manifest.codeObject = files.hsaco.filename().string();
  if (Expected<void> done = writeManifest(manifest, sha256(compiled.object.hsaco), files.manifest);
      !done) {
    return tl::unexpected(done.error());
  }
  return files;
}

} // namespace

Json compiledJson(const Problem &problem, const Schedule &schedule, const Compiled &compiled,
                  const CompiledFiles &files) {
  const KernelResources all = combined(compiled.object.kernels);
  const InstructionCounts &counts = compiled.instructions;
  return {{"problem", print(problem)},
          {"schedule", print(schedule)},
          {"hsaco", files.hsaco.string()},
          {"manifest", files.manifest.string()},
          {"vgpr", all.vgpr},
          {"agpr", all.agpr},
          {"sgpr", all.sgpr},
          {"lds_bytes", all.ldsBytes},
          {"spills", all.vgprSpills + all.sgprSpills},
          {"scratch_bytes", all.scratchBytes},
          {"occupancy", all.occupancy},
          {"instructions",
           {{"mfma", counts.mfma},
            {"lds", counts.lds},
            {"vmem", counts.vmem},
            {"valu", counts.valu},
            {"salu", counts.salu},
            {"other", counts.other}}},
          {"compile_ms", compiled.milliseconds}};
}

Expected<CompiledFacts> compiledFacts(const CodeObject &object) {
  const Expected<InstructionCounts> counts = countInstructions(object.hsaco);
  if (!counts) {
    return tl::unexpected(counts.error());
  }
  const KernelResources all = combined(object.kernels);
  return CompiledFacts{all.vgpr,    all.agpr,     all.occupancy, all.ldsBytes, counts->mfma,
                       counts->lds, counts->vmem, counts->valu,  counts->salu};
}

Expected<CompiledFiles> writeCompiled(const Compiled &compiled, const fs::path &folder,
                                      const std::string &stem) {
  const fs::path absolute = absolutePath(folder);
  Expected<CompiledFiles> files =
      writeBoth(compiled, {absolute / (stem + ".hsaco"), absolute / (stem + ".json")});
  if (!files) {
    return files;
  }
  for (const auto &[extension, text] : compiled.texts) {
    if (Expected<void> done = writeFile(absolute / fmt::format("{}.{}", stem, extension), text);
        !done) {
      return tl::unexpected(done.error());
    }
  }
  return files;
}

CompiledFiles artifactFiles(const fs::path &folder, const std::string &hash,
                            const std::string &problem) {
  const fs::path absolute = absolutePath(folder);
  return {absolute / (hash + ".hsaco"),
          absolute / fmt::format("{}.{}.json", hash, sha256(problem).substr(0, 12))};
}

bool isIntactArtifact(const fs::path &hsaco) {
  const Expected<std::vector<std::uint8_t>> bytes = readBytes(hsaco);
  return bytes && sha256(*bytes) == hsaco.stem().string();
}

Expected<CompiledFiles> writeArtifact(const Compiled &compiled, const fs::path &folder) {
  return writeBoth(compiled, artifactFiles(folder, sha256(compiled.object.hsaco),
                                           compiled.object.manifest.problem));
}

Expected<void> writeManifest(const Manifest &manifest, const std::string &hash,
                             const fs::path &file) {
  nlohmann::json json = toJson(manifest);
  json["provenance"] = {{"producer", "kw"}, {"compiler", compilerFingerprint()}, {"sha256", hash}};
  return writeFile(file, json.dump(1) + "\n");
}

} // namespace kw
