// Kernelwright
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A folder of the test's own that goes with it.
#pragma once

#include <cassert>
#include <cstdlib>
#include <filesystem>
#include <string>

namespace kw {

class TemporaryFolder {
public:
  TemporaryFolder() {
    std::string name = (std::filesystem::temp_directory_path() / "kw-test-XXXXXX").string();
    const char *made = ::mkdtemp(name.data());
    assert(made != nullptr);
    folder = made;
  }
  TemporaryFolder(const TemporaryFolder &) = delete;
  TemporaryFolder &operator=(const TemporaryFolder &) = delete;
  ~TemporaryFolder() {
    std::error_code ignored;
    std::filesystem::remove_all(folder, ignored);
  }
  std::filesystem::path operator/(const std::string &name) const { return folder / name; }
  const std::filesystem::path &path() const { return folder; }

private:
  std::filesystem::path folder;
};

} // namespace kw
