// Kernelwright
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "runtime/Launcher.h"

#include "ir/KernelPlan.h"
#include "runtime/Numbers.h"
#include "runtime/emulator/Emulator.h"

#include <fstream>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <iterator>
#include <nlohmann/json.hpp>
#include <string>

namespace kw {
namespace {

namespace fs = std::filesystem;
using testing::ElementsAre;
using testing::HasSubstr;

/// Adds one to each byte of every buffer and keeps what it saw.
class AddOneDevice : public Device {
public:
  std::string_view name() const override { return "add-one"; }
  Expected<RunResult> run(const CodeObject & /*object*/, std::span<const BufferView> buffers,
                          const RunOptions &options) override {
    seen.clear();
    for (const BufferView &buffer : buffers) {
      seen[std::string(buffer.name)].assign(buffer.bytes.begin(), buffer.bytes.end());
      for (std::uint8_t &byte : buffer.bytes) {
        ++byte;
      }
    }
    strict = options.strict;
    RunResult result;
    result.findings = findings;
    return result;
  }

  std::map<std::string, std::vector<std::uint8_t>> seen;
  std::vector<Finding> findings;
  bool strict = false;
};

class LauncherTest : public testing::Test {
protected:
  void SetUp() override {
    folder = fs::path(testing::TempDir()) /
             ("kw_launcher_" +
              std::string(testing::UnitTest::GetInstance()->current_test_info()->name()));
    fs::create_directories(folder / "in");
    write("a.hsaco", "code");
  }
  void TearDown() override { fs::remove_all(folder); }

  void write(const std::string &file, const std::string &text) const {
    std::ofstream(folder / file, std::ios::binary) << text;
  }

  std::string read(const std::string &file) const {
    std::ifstream stream(folder / file, std::ios::binary);
    return {std::istreambuf_iterator<char>(stream), {}};
  }

  Expected<LaunchOutcome> launchText(const std::string &buffers) {
    write("m.json", R"({"code_object": "a.hsaco", "buffers": {)" + buffers +
                        R"(}, "launches": [{"kernel": "k", "grid": [1, 1, 1],
                        "block": [64, 1, 1], "args": []}]})");
    Expected<CodeObject> object = loadCodeObject(folder / "m.json");
    if (!object) {
      return tl::unexpected<Error>(object.error());
    }
    return launch(*object, folder, device, options);
  }

  std::string complaint(const std::string &buffers) {
    const auto outcome = launchText(buffers);
    return outcome ? "launched" : outcome.error().message;
  }

  fs::path folder;
  AddOneDevice device;
  LaunchOptions options;
};

TEST_F(LauncherTest, FillsAndSaves) {
  write("in/a.bin", "abc");
  const auto outcome = launchText(
      R"("a": {"bytes": 3, "role": "input", "init": {"file": "in/a.bin"}, "save": "in/b.bin"},
         "z": {"bytes": 2, "role": "workspace", "init": "zero"},
         "p": {"bytes": 2, "role": "output", "init": "poison", "save": "p.bin"},
         "r": {"bytes": 8, "role": "input",
               "init": {"random": "integers", "dtype": "bf16", "seed": 1}})");
  ASSERT_TRUE(outcome) << outcome.error().message;
  EXPECT_TRUE(outcome->ok());
  EXPECT_TRUE(device.strict);
  EXPECT_THAT(device.seen["z"], ElementsAre(0, 0));
  EXPECT_THAT(device.seen["p"], ElementsAre(0xFF, 0xFF));
  for (std::int64_t i = 0; i < 4; ++i) {
    const double value =
        decodeNumber(ElementType::bf16, loadBits(ElementType::bf16, device.seen["r"].data(), i));
    EXPECT_EQ(value, std::nearbyint(value));
  }
  EXPECT_EQ(read("in/b.bin"), "bcd");
  EXPECT_EQ(read("in/a.bin"), "abc");
  EXPECT_EQ(read("p.bin"), std::string(2, '\0'));
  ASSERT_EQ(outcome->outputs.size(), 2U);
  for (const SavedBuffer &saved : outcome->outputs) {
    EXPECT_TRUE(fs::path(saved.file).is_absolute());
    EXPECT_EQ(fs::file_size(saved.file), static_cast<std::uintmax_t>(saved.bytes));
  }
}

TEST_F(LauncherTest, ABufferMayBeSavedOverItsOwnFile) {
  write("in/a.bin", "abc");
  for (int time = 0; time < 2; ++time) {
    ASSERT_TRUE(launchText(
        R"("a": {"bytes": 3, "role": "output", "init": {"file": "in/a.bin"}, "save": "in/a.bin"})"));
  }
  EXPECT_EQ(read("in/a.bin"), "cde");
}

TEST_F(LauncherTest, WhatLeadsOutOfTheFolderIsRefusedBeforeAnythingRuns) {
  EXPECT_THAT(complaint(R"("a": {"bytes": 4, "save": "../a.bin"})"),
              HasSubstr("leads out of the manifest's folder"));
  EXPECT_TRUE(device.seen.empty());
  EXPECT_FALSE(fs::exists(folder.parent_path() / "a.bin"));
}

TEST_F(LauncherTest, BuffersLargerThanTheMachineAreRefused) {
  for (const char *init : {R"("zero")", R"("poison")", R"({"random": "bytes", "seed": 1})"}) {
    EXPECT_THAT(complaint(R"("a": {"bytes": 140737488355327, "init": )" + std::string(init) + "}"),
                HasSubstr("the buffers up to 'a' take more than this machine's"));
  }
  EXPECT_TRUE(device.seen.empty());
}

TEST_F(LauncherTest, FindingsAreNotOk) {
  device.findings.emplace_back();
  const auto outcome = launchText(R"("a": {"bytes": 3})");
  ASSERT_TRUE(outcome);
  EXPECT_FALSE(outcome->ok());
}

TEST_F(LauncherTest, WhatOnlyTheEmulatedDeviceCanDoIsRefused) {
  options.matrixSums = MatrixSums::grouped;
  EXPECT_THAT(complaint(R"("a": {"bytes": 3})"), HasSubstr("grouped matrix sums"));
  options = {};
  options.schedules = 1;
  EXPECT_THAT(complaint(R"("a": {"bytes": 3})"), HasSubstr("schedules"));
}

TEST_F(LauncherTest, FilesThatAreMissingOrWrong) {
  write("in/a.bin", "abc");
  EXPECT_THAT(complaint(R"("a": {"bytes": 4, "init": {"file": "in/a.bin"}})"),
              HasSubstr("buffer 'a'"));
  EXPECT_THAT(complaint(R"("a": {"bytes": 4, "init": {"file": "in/a.bin"}})"),
              HasSubstr("has 3 bytes, the buffer 4"));
  EXPECT_THAT(complaint(R"("a": {"bytes": 4, "init": {"file": "in/none.bin"}})"),
              HasSubstr("in/none.bin: No such file"));
  EXPECT_THAT(complaint(R"("a": {"bytes": 4, "save": "none/a.bin"})"),
              HasSubstr("none/a.bin: cannot be written"));
  fs::remove(folder / "a.hsaco");
  EXPECT_THAT(complaint(R"("a": {"bytes": 4})"), HasSubstr("a.hsaco: No such file"));
  for (const char *endless : {"/dev/zero", "/proc/self/mem"}) {
    fs::create_symlink(endless, folder / "a.hsaco");
    EXPECT_THAT(complaint(R"("a": {"bytes": 4})"), HasSubstr("a.hsaco: ")) << endless;
    fs::remove(folder / "a.hsaco");
  }
}

TEST_F(LauncherTest, ManifestsThatAreNone) {
  const auto complaintOf = [&](const fs::path &file) {
    const auto object = loadCodeObject(file);
    EXPECT_FALSE(object);
    EXPECT_EQ(object.error().kind, Error::Kind::badInput);
    return object ? "" : object.error().message;
  };
  write("text.json", "{\"code_object\": ");
  EXPECT_THAT(complaintOf(folder / "text.json"), HasSubstr("text.json: not JSON"));
  write("other.json", "{\"a\": 1}");
  EXPECT_THAT(complaintOf(folder / "other.json"), HasSubstr("other.json: "));
  EXPECT_THAT(complaintOf(folder / "none.json"), HasSubstr("No such file"));
  EXPECT_THAT(complaintOf(folder), HasSubstr("not a regular file"));
  EXPECT_THAT(complaintOf("/dev/zero"), HasSubstr("not a regular file"));
}

TEST_F(LauncherTest, GuardsSpeakOfTheProblem) {
  Manifest manifest;
  manifest.guards = {"m % 64 == 0", "lda >= 32"};
  EXPECT_TRUE(checkGuards(manifest)) << "no problem, no sizes";
  manifest.problem = "gemm m=128 n=64 k=32 dtype=bf16";
  EXPECT_TRUE(checkGuards(manifest));
  manifest.problem = "gemm m=100 n=64 k=32 dtype=bf16";
  const auto broken = checkGuards(manifest);
  ASSERT_FALSE(broken);
  EXPECT_EQ(broken.error().kind, Error::Kind::badInput);
  EXPECT_THAT(broken.error().message, HasSubstr("guard 'm % 64 == 0' does not hold"));
  manifest.guards = {"nonsense == 0"};
  EXPECT_THAT(checkGuards(manifest).error().message, HasSubstr("nonsense"));
}

} // namespace
} // namespace kw
