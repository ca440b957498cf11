// Kernelwright
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "Seeds.h"

#include <algorithm>
#include <cstring>
#include <fstream>
#include <iterator>
#include <nlohmann/json.hpp>

namespace kw::test {
namespace {

namespace fs = std::filesystem;

std::string contentsOf(const fs::path &file) {
  std::ifstream in(file, std::ios::binary);
  return {std::istreambuf_iterator<char>(in), {}};
}

} // namespace

std::vector<Victim> seedsOf(const fs::path &folder) {
  std::vector<fs::path> manifests;
  for (const auto &entry : fs::directory_iterator(folder)) {
    if (entry.path().extension() == ".json") {
      manifests.push_back(entry.path());
    }
  }
  std::sort(manifests.begin(), manifests.end());
  std::vector<Victim> seeds;
  for (const fs::path &manifest : manifests) {
    std::string text = contentsOf(manifest);
    const auto json = nlohmann::json::parse(text);
    const std::string code = contentsOf(folder / json.at("code_object").get<std::string>());
    seeds.push_back({{code.begin(), code.end()}, std::move(text)});
  }
  return seeds;
}

std::vector<std::uint8_t> pack(const Victim &victim) {
  const auto length = static_cast<std::uint32_t>(victim.manifest.size());
  std::vector<std::uint8_t> bytes(sizeof(length));
  std::memcpy(bytes.data(), &length, sizeof(length));
  bytes.insert(bytes.end(), victim.manifest.begin(), victim.manifest.end());
  bytes.insert(bytes.end(), victim.hsaco.begin(), victim.hsaco.end());
  return bytes;
}

Victim unpack(std::span<const std::uint8_t> bytes) {
  std::uint32_t length = 0;
  if (bytes.size() < sizeof(length)) {
    return {};
  }
  std::memcpy(&length, bytes.data(), sizeof(length));
  const auto rest = bytes.subspan(sizeof(length));
  const auto text = rest.first(std::min<std::size_t>(length, rest.size()));
  const auto code = rest.subspan(text.size());
  return {{code.begin(), code.end()}, std::string(text.begin(), text.end())};
}

} // namespace kw::test
