// Kernelwright
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The validator on RMSNorm, with a mock that computes in f32 on the CPU.
#include "runtime/Validator.h"

#include "ir/KernelPlan.h"
#include "runtime/Numbers.h"

#include <cmath>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <map>
#include <string>

namespace kw {
namespace {

using testing::HasSubstr;

const Target &gfx950() { return **findTarget("gfx950"); }

class MockRmsNormDevice : public Device {
public:
  bool skipLast = false, noEps = false, unroundedSum = false;
  std::int64_t unwrittenRow = -1;

  std::string_view name() const override { return "mock"; }

  Expected<RunResult> run(const CodeObject &object, std::span<const BufferView> buffers,
                          const RunOptions &options) override {
    const Problem problem = *parseProblem(object.manifest.problem);
    const KernelPlan plan = makePlan(problem, *parseSchedule(object.manifest.schedule), gfx950());
    const LaunchPlan &launch = plan.launches.front();
    std::map<std::string_view, std::uint8_t *> data;
    for (const BufferView &view : buffers) {
      data[view.name] = view.bytes.data();
    }
    std::vector<std::uint64_t> ids = options.workgroups.front();
    for (std::int64_t id = 0; options.workgroups.front().empty() && id < launch.workgroups; ++id) {
      ids.push_back(static_cast<std::uint64_t>(id));
    }
    for (const std::uint64_t id : ids) {
      const auto first = static_cast<std::int64_t>(id) * launch.tileM;
      for (std::int64_t row = first; row < std::min(first + launch.tileM, problem.rmsnorm().rows);
           ++row) {
        runRow(problem.rmsnorm(), data, row);
      }
    }
    return RunResult();
  }

private:
  void runRow(const RmsNorm &norm, std::map<std::string_view, std::uint8_t *> &data,
              std::int64_t row) const {
    const std::int64_t begin = row * norm.cols;
    std::vector<float> s(static_cast<std::size_t>(norm.cols));
    float squares = 0;
    for (std::int64_t i = 0; i < norm.cols; ++i) {
      auto &value = s[static_cast<std::size_t>(i)];
      value = load(norm.type, data["x"], begin + i);
      if (norm.residual) {
        value += load(norm.type, data["residual"], begin + i);
        store(norm.type, data["sum"], begin + i, value);
        value = unroundedSum ? value : load(norm.type, data["sum"], begin + i);
      }
      squares += skipLast && i == norm.cols - 1 ? 0.0F : value * value;
    }
    const float eps = noEps ? 0.0F : static_cast<float>(norm.eps);
    const float factor = 1.0F / std::sqrt(squares / static_cast<float>(norm.cols) + eps);
    for (std::int64_t i = 0; i < norm.cols && row != unwrittenRow; ++i) {
      const float weight = norm.weight ? load(norm.type, data["weight"], i) : 1.0F;
      store(norm.outType, data["y"], begin + i, s[static_cast<std::size_t>(i)] * factor * weight);
    }
  }

  static float load(ElementType type, const std::uint8_t *from, std::int64_t index) {
    return static_cast<float>(decodeNumber(type, loadBits(type, from, index)));
  }
  static void store(ElementType type, std::uint8_t *to, std::int64_t index, float value) {
    storeBits(type, to, index, encodeNumber(type, value));
  }
};

Validation proven(MockRmsNormDevice &device, const std::string &text) {
  const auto problem = parseProblem("rmsnorm " + text);
  EXPECT_TRUE(problem) << (problem ? "" : problem.error().message);
  CodeObject object;
  object.manifest = makeManifest(*problem, RmsNormSchedule(), gfx950(), "mock.hsaco");
  const auto validation = validate(object, gfx950(), device, {});
  EXPECT_TRUE(validation) << (validation ? "" : validation.error().message);
  return validation.value_or(Validation());
}

TEST(RmsNormValidator, AcceptsRightResults) {
  for (const char *problem :
       {"rows=33 cols=512", "rows=33 cols=512 weight=0", "rows=5 cols=1000 residual=1 dtype=f16",
        "rows=1 cols=8192 residual=1", "rows=40 cols=128 dtype=f32 residual=1",
        "rows=17 cols=129 dtype=bf16 out=f32"}) {
    MockRmsNormDevice device;
    const Validation validation = proven(device, problem);
    EXPECT_TRUE(validation.ok) << problem << ": " << validation.findings.front().detail;
    EXPECT_EQ(validation.checked, validation.total);
    EXPECT_LE(validation.maxRel, validation.tolerance) << problem;
  }
}

TEST(RmsNormValidator, SamplesLargeProblems) {
  MockRmsNormDevice device;
  const Validation validation = proven(device, "rows=100001 cols=1024");
  EXPECT_TRUE(validation.ok) << validation.findings.front().detail;
  EXPECT_LT(validation.checked, validation.total);
}

TEST(RmsNormValidator, OneMissingElementOfALongRow) {
  MockRmsNormDevice device;
  device.skipLast = true;
  EXPECT_FALSE(proven(device, "rows=33 cols=8192").ok);
}

TEST(RmsNormValidator, EpsMatters) {
  MockRmsNormDevice device;
  device.noEps = true;
  EXPECT_FALSE(proven(device, "rows=33 cols=512").ok);
}

TEST(RmsNormValidator, TheSumIsRoundedBeforeTheNorm) {
  MockRmsNormDevice device;
  device.unroundedSum = true;
  EXPECT_FALSE(proven(device, "rows=33 cols=512 residual=1").ok);
}

TEST(RmsNormValidator, AnUnwrittenRow) {
  MockRmsNormDevice device;
  device.unwrittenRow = 32;
  const Validation validation = proven(device, "rows=33 cols=512");
  ASSERT_FALSE(validation.ok);
  EXPECT_THAT(validation.findings.front().detail, HasSubstr("y[32, 0] was not written"));
}

} // namespace
} // namespace kw
