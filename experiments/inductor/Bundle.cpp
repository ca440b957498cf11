// Kernelwright
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "experiments/inductor/Bundle.h"

#include "codegen/Compile.h"
#include "costmodel/CostModel.h"
#include "experiments/inductor/BundleFormat.h"
#include "experiments/inductor/KernelRow.h"
#include "experiments/inductor/LoaderSources.h"
#include "experiments/support/Files.h"
#include "experiments/support/Sha256.h"
#include "runtime/Validator.h"

#include <fmt/format.h>
#include <map>
#include <set>

namespace kw {
namespace {

using Json = nlohmann::ordered_json;

/// Files of a bundle by their path in it, bundle.json left out: that one lists them.
using FileMap = std::map<std::string, std::string>;

std::string asText(const std::vector<std::uint8_t> &bytes) { return {bytes.begin(), bytes.end()}; }

/// Problems that differ in run-time sizes alone may have one kernel, which is then one file.
Expected<void> checkEntry(const BundleEntry &entry, const FileMap &files,
                          const std::set<std::string> &problems) {
  if (!entry.validated) {
    return failed(fmt::format("{} was not validated: it is not exported", print(entry.problem)));
  }
  if (problems.contains(print(entry.problem))) {
    return badInput(fmt::format("{} is exported twice", print(entry.problem)));
  }
  const auto file = files.find("kernels/" + codeObjectFile(entry));
  if (file != files.end() && file->second != asText(entry.object.hsaco)) {
    return failed(fmt::format("{}: the kernel of another problem has the same name and other code, "
                              "one of them was compiled by an earlier version: tune it again",
                              print(entry.problem)));
  }
  return {};
}

Expected<FileMap> kernelFiles(std::span<const BundleEntry> entries, const Target &target) {
  FileMap files;
  Json rows = Json::array();
  std::set<std::string> problems;
  for (const BundleEntry &entry : entries) {
    if (Expected<void> checked = checkEntry(entry, files, problems); !checked) {
      return tl::unexpected(checked.error());
    }
    problems.insert(print(entry.problem));
    rows.push_back(kernelRow(entry, target));
    files["kernels/" + codeObjectFile(entry)] = asText(entry.object.hsaco);
  }
  const Json document{{"version", bundleVersion}, {"target", target.name}, {"kernels", rows}};
  files["kernels/kernels.json"] = document.dump(2) + "\n";
  return files;
}

Json provenance(std::span<const BundleEntry> entries, const LookupTable &lookup,
                const Target &target, const FileMap &files) {
  Json hashes = Json::object();
  for (const auto &[path, text] : files) {
    hashes[path] = sha256(text);
  }
  Json problems = Json::array();
  for (const BundleEntry &entry : entries) {
    problems.push_back(problemRow(entry));
  }
  return {{"version", bundleVersion},
          {"producer", bundleProducer},
          {"compiler", compilerFingerprint()},
          {"model", modelVersion()},
          {"validator", validatorVersion()},
          {"target", target.name},
          {"product", target.product},
          {"cus", target.cus},
          {"torch", torchRange(lookup.boundTorch)},
          {"triton", tritonRange},
          {"files", hashes},
          {"problems", problems},
          {"lookup", lookup.notes}};
}

/// Code objects and rows of an earlier export to the same folder that this one does not have.
void removeStale(const std::filesystem::path &directory, const FileMap &files) {
  std::error_code ignored;
  for (const auto &item : std::filesystem::directory_iterator(directory / "kernels", ignored)) {
    const std::string path = "kernels/" + item.path().filename().string();
    if (item.path().extension() == ".hsaco" && !files.contains(path)) {
      std::filesystem::remove(item.path(), ignored);
    }
  }
  if (!files.contains(lookupFile)) {
    std::filesystem::remove(directory / lookupFile, ignored);
  }
}

} // namespace

Expected<std::filesystem::path> writeBundle(const std::filesystem::path &directory,
                                            const Target &target,
                                            std::span<const BundleEntry> entries,
                                            const LookupTable &lookup, std::string_view table) {
  Expected<FileMap> files = kernelFiles(entries, target);
  if (!files) {
    return tl::unexpected(files.error());
  }
  for (const LoaderSource &source : loaderSources()) {
    (*files)[std::string(source.path)] = std::string(source.text);
  }
  if (!lookup.text.empty()) {
    (*files)[lookupFile] = lookup.text;
  }
  if (!table.empty()) {
    (*files)[tableFile] = std::string(table);
  }
  for (const auto &[path, text] : *files) {
    if (Expected<void> written = writeFile(directory / path, text); !written) {
      return tl::unexpected(written.error());
    }
  }
  removeStale(directory, *files);
  const std::string summary = provenance(entries, lookup, target, *files).dump(2) + "\n";
  if (Expected<void> written = writeFile(directory / "bundle.json", summary); !written) {
    return tl::unexpected(written.error());
  }
  std::error_code status;
  return std::filesystem::absolute(directory, status);
}

} // namespace kw
