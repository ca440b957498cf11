// Kernelwright
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "codegen/Link.h"

#include "codegen/LlvmOptions.h"

#include <lld/Common/Driver.h>
#include <llvm/Support/FileSystem.h>
#include <llvm/Support/MemoryBuffer.h>
#include <llvm/Support/Path.h>
#include <llvm/Support/raw_ostream.h>
#include <string>

LLD_HAS_DRIVER(elf)

namespace kw {
namespace {

/// A folder only this process can read, removed with its contents.
class PrivateFolder {
public:
  PrivateFolder() { error = llvm::sys::fs::createUniqueDirectory("kw-link", path); }
  ~PrivateFolder() {
    if (!error) {
      llvm::sys::fs::remove_directories(path);
    }
  }
  PrivateFolder(const PrivateFolder &) = delete;
  PrivateFolder &operator=(const PrivateFolder &) = delete;

  std::string file(llvm::StringRef name) const {
    llvm::SmallString<128> full = path;
    llvm::sys::path::append(full, name);
    return std::string(full);
  }

  std::error_code error;

private:
  llvm::SmallString<128> path;
};

std::error_code writeFile(const std::string &path, std::string_view bytes) {
  std::error_code error;
  llvm::raw_fd_ostream out(path, error);
  if (error) {
    return error;
  }
  out << llvm::StringRef(bytes.data(), bytes.size());
  out.close();
  error = out.error();
  out.clear_error(); // reported by the caller; a stream destroyed with an error aborts
  return error;
}

bool runLld(const std::string &object, const std::string &output, std::string &messages) {
  LinkGuard guard;
  llvm::raw_string_ostream stream(messages);
  const char *arguments[] = {"ld.lld",       "-shared", "--no-undefined", "--threads=1",
                             object.c_str(), "-o",      output.c_str()};
  const lld::DriverDef driver{lld::Gnu, &lld::elf::link};
  return lld::lldMain(arguments, stream, stream, {driver}).retCode == 0;
}

} // namespace

Expected<std::vector<std::uint8_t>> linkHsaco(std::string_view object) {
  PrivateFolder folder;
  if (folder.error) {
    return failed("cannot make a temporary folder for linking: " + folder.error.message());
  }
  const std::string input = folder.file("kernel.o");
  const std::string output = folder.file("kernel.hsaco");
  if (std::error_code error = writeFile(input, object)) {
    return failed("cannot write " + input + ": " + error.message());
  }
  std::string messages;
  if (!runLld(input, output, messages)) {
    return failed("linking the code object failed: " + llvm::StringRef(messages).trim().str());
  }
  auto buffer = llvm::MemoryBuffer::getFile(output, /*IsText=*/false,
                                            /*RequiresNullTerminator=*/false);
  if (!buffer) {
    return failed("cannot read " + output + ": " + buffer.getError().message());
  }
  const llvm::StringRef bytes = (*buffer)->getBuffer();
  return std::vector<std::uint8_t>(bytes.bytes_begin(), bytes.bytes_end());
}

} // namespace kw
