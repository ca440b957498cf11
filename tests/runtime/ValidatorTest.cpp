// Kernelwright
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The validator must pass every correct kernel and fail every kind of wrong one. Kernels are mocks
// here; real ones are validated in tests/experiments.
#include "runtime/Validator.h"

#include "tests/runtime/MockGemmDevice.h"

#include <functional>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <string>

namespace kw {
namespace {

using testing::HasSubstr;

const Target &gfx950() { return **findTarget("gfx950"); }

GemmSchedule smallTiles() {
  GemmSchedule schedule;
  schedule.tiling.m = 64;
  schedule.tiling.n = 64;
  schedule.tiling.k = 32;
  schedule.a.vectorBytes = schedule.b.vectorBytes = 2; // any size and stride is right
  return schedule;
}

CodeObject objectOf(const std::string &text, const GemmSchedule &schedule = smallTiles()) {
  const auto problem = parseProblem("gemm " + text);
  EXPECT_TRUE(problem) << (problem ? "" : problem.error().message);
  CodeObject object;
  object.manifest = makeManifest(*problem, schedule, gfx950(), "mock.hsaco");
  return object;
}

Validation proven(MockGemmDevice &device, const CodeObject &object,
                  const ValidateOptions &options = {}) {
  const auto validation = validate(object, gfx950(), device, options);
  EXPECT_TRUE(validation) << (validation ? "" : validation.error().message);
  return validation.value_or(Validation());
}

/// Ragged along m and n; 9 tiles.
const char *const ragged = "m=150 n=168 k=96 dtype=bf16 b=nk";

std::string firstComplaint(MockGemmDevice &device, const std::string &problem = ragged) {
  const Validation validation = proven(device, objectOf(problem));
  EXPECT_EQ(validation.ok, validation.findings.empty());
  return validation.ok ? "ok" : validation.findings.front().detail;
}

// ---- Right results -----------------------------------------------------------------------------

TEST(Validator, AcceptsEveryOrderOfSummation) {
  for (const SumOrder order :
       {SumOrder::forward, SumOrder::reverse, SumOrder::pairwise, SumOrder::slices}) {
    for (const char *problem :
         {ragged, "m=70 n=64 k=1000 dtype=f16", "m=64 n=80 k=40 dtype=bf16 out=f32 a=km b=nk",
          "m=33 n=65 k=7 dtype=f32", "m=70 n=65 k=33 batch=3 dtype=f32 a=km sb=0",
          "m=64 n=64 k=520 dtype=bf16 alpha=0.3"}) {
      MockGemmDevice device;
      device.order = order;
      const Validation validation = proven(device, objectOf(problem));
      EXPECT_TRUE(validation.ok) << problem << ": " << validation.findings.front().detail;
      EXPECT_EQ(validation.checked, validation.total);
      EXPECT_GT(validation.maxRel, 0) << problem;
      EXPECT_LE(validation.maxRel, validation.tolerance) << problem;
    }
  }
}

TEST(Validator, CountsElementsAndTime) {
  MockGemmDevice device;
  const Validation validation = proven(device, objectOf(ragged));
  EXPECT_EQ(validation.total, 150 * 168);
  EXPECT_EQ(validation.checked, 150 * 168);
  EXPECT_DOUBLE_EQ(validation.gflops, 2);
  EXPECT_EQ(validation.seconds, static_cast<double>(device.runs.size()));
}

TEST(Validator, PadsAreLeftAloneAndUnread) {
  MockGemmDevice device;
  EXPECT_EQ(firstComplaint(device, "m=70 n=70 k=40 dtype=bf16 lda=64 ldb=96 ldc=100"), "ok");
}

TEST(Validator, ProbesTheSizesAroundTheProblem) {
  MockGemmDevice device;
  ASSERT_TRUE(proven(device, objectOf("m=128 n=64 k=64 dtype=bf16 b=nk")).ok);
  EXPECT_THAT(device.problems, testing::Contains(HasSubstr("gemm m=127 ")));
  EXPECT_THAT(device.problems, testing::Contains(HasSubstr("gemm m=129 ")));
  EXPECT_THAT(device.problems, testing::Contains(HasSubstr("gemm m=1 ")));
  EXPECT_THAT(device.problems, testing::Contains(HasSubstr("ldc=128")));
}

// ---- Wrong results -----------------------------------------------------------------------------

/// Each flaw sits in a tile of its own kind.
constexpr std::uint64_t anyTile = 4;

TEST(Validator, OneWrongElement) {
  MockGemmDevice device;
  device.beforeStore = [](const MockGemmDevice::Tile &tile) {
    if (tile.workgroup == anyTile) {
      tile.at(3, 5) *= 1.02F;
    }
  };
  EXPECT_THAT(firstComplaint(device), HasSubstr("c["));
}

TEST(Validator, OneUnitInTheLastPlace) {
  for (const bool integers : {false, true}) {
    MockGemmDevice device;
    device.beforeStore = [&](const MockGemmDevice::Tile &tile) {
      if (tile.integerInputs == integers && tile.workgroup == anyTile && tile.gemm.m == 150) {
        const double rounded = roundTo(ElementType::bf16, tile.at(3, 5));
        const std::uint64_t bits = encodeNumber(ElementType::bf16, rounded);
        tile.at(3, 5) = static_cast<float>(decodeNumber(ElementType::bf16, bits + 1));
      }
    };
    EXPECT_THAT(firstComplaint(device), HasSubstr(integers ? "integer inputs" : "random inputs"));
  }
}

TEST(Validator, TruncationInsteadOfRounding) {
  MockGemmDevice device;
  device.convert = [](ElementType, float value) -> std::uint64_t {
    return std::bit_cast<std::uint32_t>(value) >> 16;
  };
  EXPECT_THAT(firstComplaint(device), HasSubstr("integer inputs"));
}

TEST(Validator, OneMissingStep) {
  MockGemmDevice device;
  device.skipTile = anyTile;
  device.skipFrom = 32;
  device.skipTo = 64;
  EXPECT_THAT(firstComplaint(device), HasSubstr("c["));
}

TEST(Validator, OneMissingProductOfALongSum) {
  MockGemmDevice device;
  device.skipTile = 0;
  device.skipFrom = 1499;
  device.skipTo = 1500;
  EXPECT_THAT(firstComplaint(device, "m=64 n=64 k=1500 dtype=bf16"), HasSubstr("c["));
}

TEST(Validator, OneSwappedFragment) {
  MockGemmDevice device;
  device.beforeStore = [](const MockGemmDevice::Tile &tile) {
    for (std::int64_t i = 0; i < 16 && tile.workgroup == anyTile; ++i) {
      for (std::int64_t j = 0; j < 16; ++j) {
        std::swap(tile.at(i, j), tile.at(i + 16, j));
      }
    }
  };
  EXPECT_THAT(firstComplaint(device), HasSubstr("c["));
}

TEST(Validator, ATransposedTile) {
  MockGemmDevice device;
  device.beforeStore = [](const MockGemmDevice::Tile &tile) {
    for (std::int64_t i = 0; i < tile.rows && tile.workgroup == anyTile; ++i) {
      for (std::int64_t j = 0; j < i; ++j) {
        std::swap(tile.at(i, j), tile.at(j, i));
      }
    }
  };
  EXPECT_THAT(firstComplaint(device), HasSubstr("c["));
}

TEST(Validator, AnUnwrittenElement) {
  MockGemmDevice device;
  device.storeIt = [](const MockGemmDevice::Tile &tile, std::int64_t i, std::int64_t j) {
    return tile.row + i != 149 || tile.col + j != 167;
  };
  EXPECT_THAT(firstComplaint(device), HasSubstr("c[149, 167] was not written"));
}

TEST(Validator, AWriteIntoThePadding) {
  MockGemmDevice device;
  device.afterStore = [](const MockGemmDevice::Tile &tile) {
    if (tile.row == 64 && tile.col + tile.cols >= tile.gemm.n) {
      tile.c[static_cast<std::size_t>(70 * tile.gemm.ldc + tile.gemm.n) * 2] = 0;
    }
  };
  EXPECT_THAT(firstComplaint(device, "m=150 n=168 k=96 dtype=bf16 ldc=180"),
              HasSubstr("byte 25536 was written, outside of the results"));
}

TEST(Validator, AWriteIntoAnInput) {
  MockGemmDevice device;
  device.afterStore = [](const MockGemmDevice::Tile &tile) { tile.b[77] ^= 1; };
  const Validation validation = proven(device, objectOf(ragged));
  EXPECT_FALSE(validation.ok);
  EXPECT_EQ(validation.findings.front().kind, "input-modified");
}

TEST(Validator, AKernelThatIsRightForTheCompiledSizeOnly) {
  MockGemmDevice device;
  device.storeIt = [](const MockGemmDevice::Tile &tile, std::int64_t i, std::int64_t) {
    return tile.row + i < 128;
  };
  EXPECT_THAT(firstComplaint(device, "m=128 n=64 k=64 dtype=bf16"), HasSubstr("gemm m=129 "));
}

TEST(Validator, FindingsOfTheDeviceFail) {
  MockGemmDevice device;
  Finding finding;
  finding.kind = "lds-race";
  device.findings.push_back(finding);
  const Validation validation = proven(device, objectOf(ragged));
  EXPECT_FALSE(validation.ok);
  EXPECT_EQ(validation.findings.front().kind, "lds-race");
}

TEST(Validator, FindingsAreFewAndCounted) {
  MockGemmDevice device;
  device.beforeStore = [](const MockGemmDevice::Tile &tile) {
    std::fill(tile.sums.begin(), tile.sums.end(), 1e9F);
  };
  const Validation validation = proven(device, objectOf(ragged));
  EXPECT_LE(validation.findings.size(), 8U);
  EXPECT_THAT(validation.findings.back().detail, HasSubstr(" more"));
}

// ---- Samples of large problems -----------------------------------------------------------------

const char *const large = "m=4104 n=4114 k=64 dtype=bf16 b=nk";

GemmSchedule largeTiles() {
  GemmSchedule schedule;
  schedule.tiling.m = 128;
  schedule.tiling.n = 128;
  schedule.a.vectorBytes = schedule.b.vectorBytes = 2;
  return schedule;
}

TEST(Validator, SamplesEveryKindOfTile) {
  MockGemmDevice device;
  std::vector<bool> kinds(4);
  device.afterStore = [&](const MockGemmDevice::Tile &tile) {
    const std::size_t kind =
        (tile.row + tile.rows > tile.gemm.m ? 2 : 0) + (tile.col + tile.cols > tile.gemm.n ? 1 : 0);
    kinds[kind] = kinds[kind] || tile.gemm.m == 4104;
  };
  const Validation validation = proven(device, objectOf(large, largeTiles()));
  EXPECT_TRUE(validation.ok);
  EXPECT_EQ(kinds, std::vector<bool>(4, true));
  EXPECT_LT(validation.checked, validation.total);
  EXPECT_GT(validation.checked, 20 * 128 * 128);
}

TEST(Validator, SamplesFindFlawsInEdges) {
  for (const bool alongM : {false, true}) {
    MockGemmDevice device;
    device.beforeStore = [&](const MockGemmDevice::Tile &tile) {
      const bool edgeM = tile.row + tile.rows > tile.gemm.m;
      const bool edgeN = tile.col + tile.cols > tile.gemm.n;
      if (tile.gemm.m == 4104 && edgeM == alongM && edgeN != alongM) {
        tile.at(0, 0) += 100;
      }
    };
    EXPECT_FALSE(proven(device, objectOf(large, largeTiles())).ok);
  }
}

TEST(Validator, SamplesFindWritesToOtherTiles) {
  MockGemmDevice device;
  device.afterStore = [](const MockGemmDevice::Tile &tile) {
    for (std::size_t part = 1; part < 10 && tile.workgroup == 0; ++part) {
      tile.c[tile.c.size() / 10 * part] = 0; // most of these tiles are not in the sample
    }
  };
  const Validation validation = proven(device, objectOf(large, largeTiles()));
  ASSERT_FALSE(validation.ok);
  EXPECT_THAT(validation.findings.front().detail, HasSubstr("outside of the results"));
}

TEST(Validator, SeedsChooseOtherSamples) {
  std::vector<std::vector<std::uint64_t>> samples;
  for (const std::uint64_t seed : {1, 2, 1}) {
    MockGemmDevice device;
    ValidateOptions options;
    options.seed = seed;
    ASSERT_TRUE(proven(device, objectOf(large, largeTiles()), options).ok);
    samples.push_back(device.runs.front().workgroups.front());
  }
  EXPECT_NE(samples[0], samples[1]);
  EXPECT_EQ(samples[0], samples[2]);
}

TEST(Validator, FullChecksEveryElement) {
  MockGemmDevice device;
  ValidateOptions options;
  options.full = true;
  const Validation validation =
      proven(device, objectOf("m=2050 n=2060 k=8 dtype=bf16 out=f32", largeTiles()), options);
  EXPECT_TRUE(validation.ok);
  EXPECT_EQ(validation.checked, validation.total);
}

// ---- Bad input ---------------------------------------------------------------------------------

std::string refusal(const CodeObject &object) {
  MockGemmDevice device;
  const auto validation = validate(object, gfx950(), device, {});
  EXPECT_TRUE(device.runs.empty());
  return validation ? "accepted" : validation.error().message;
}

TEST(Validator, RefusesWhatItCannotJudge) {
  CodeObject object = objectOf(ragged);
  object.manifest.problem.clear();
  EXPECT_THAT(refusal(object), HasSubstr("names no problem"));

  object = objectOf(ragged);
  object.manifest.target = "gfx942";
  EXPECT_THAT(refusal(object), HasSubstr("target 'gfx942'"));

  object = objectOf(ragged);
  object.manifest.schedule = print(Schedule(RmsNormSchedule()));
  EXPECT_THAT(refusal(object), HasSubstr("is not for a gemm"));

  object = objectOf(ragged);
  object.manifest.buffers[1].bytes -= 1;
  EXPECT_THAT(refusal(object), HasSubstr("buffer 'b' has"));

  object = objectOf(ragged);
  object.manifest.buffers.pop_back();
  EXPECT_THAT(refusal(object), HasSubstr("no buffer 'c'"));

  object = objectOf(ragged);
  object.manifest.launches[0].grid[0] += 1;
  EXPECT_THAT(refusal(object), HasSubstr("the grid has 10 workgroups, the schedule 9"));

  object = objectOf(ragged);
  object.manifest.guards.push_back("m % 64 == 0");
  EXPECT_THAT(refusal(object), HasSubstr("guard 'm % 64 == 0'"));

  EXPECT_THAT(refusal(objectOf("m=64 n=64 k=64 dtype=bf16 epilogue=quant:fp8")),
              HasSubstr("quant"));
}

TEST(Validator, RefusesAManifestThatIsNotTheSchedules) {
  using Edit = std::function<void(Manifest &)>;
  const std::pair<const char *, Edit> lies[] = {
      {"role is input, not output", [](Manifest &m) { m.buffers[2].role = BufferRole::input; }},
      {"role is workspace, not input",
       [](Manifest &m) { m.buffers[0].role = BufferRole::workspace; }},
      {"dtype is f16, not bf16", [](Manifest &m) { m.buffers[0].dtype = ElementType::f16; }},
      {"dtype is missing, not bf16", [](Manifest &m) { m.buffers[0].dtype.reset(); }},
      {"shape is", [](Manifest &m) { std::swap(m.buffers[1].shape[0], m.buffers[1].shape[1]); }},
      {"init is zero", [](Manifest &m) { m.buffers[2].init.kind = BufferInit::Kind::zero; }},
      {"has no buffer 'x'", [](Manifest &m) { m.buffers.push_back({"x", 16}); }},
      {"grid is", [](Manifest &m) { std::swap(m.launches[0].grid[0], m.launches[0].grid[2]); }},
      {"block is", [](Manifest &m) { m.launches[0].block[0] *= 2; }},
      {"dynamic_lds is 64, not 0", [](Manifest &m) { m.launches[0].dynamicLds = 64; }},
      {"arguments, not", [](Manifest &m) { m.launches[0].arguments.pop_back(); }},
      {"args[1]: offset is 24", [](Manifest &m) { m.launches[0].arguments[1].offset = 24; }},
      {"args[0]: value is buffer 'b'",
       [](Manifest &m) { m.launches[0].arguments[0].value = BufferArgument{"b", 0}; }},
      {"args[0]: value is buffer 'a' at 2",
       [](Manifest &m) { m.launches[0].arguments[0].value = BufferArgument{"a", 2}; }},
      {"args[0]: value is null",
       [](Manifest &m) { m.launches[0].arguments[0].value = NullArgument{}; }},
      {"args[3]: value is u32, not i32",
       [](Manifest &m) {
         std::get<ValueArgument>(m.launches[0].arguments[3].value).type = ElementType::u32;
       }},
      {"the guard 'm >= 1", [](Manifest &m) { m.guards.clear(); }},
      {"2 launches, the schedule 1", [](Manifest &m) { m.launches.push_back(m.launches[0]); }},
  };
  for (const auto &[reason, edit] : lies) {
    CodeObject object = objectOf(ragged);
    edit(object.manifest);
    EXPECT_THAT(refusal(object), HasSubstr(reason));
  }
}

TEST(Validator, ANumberThatIsNotTheProblemsIsAFinding) {
  CodeObject object = objectOf(ragged);
  std::get<ValueArgument>(object.manifest.launches[0].arguments[3].value).bytes[0] ^= 1;
  MockGemmDevice device;
  const Validation validation = proven(device, object);
  EXPECT_FALSE(validation.ok);
  ASSERT_EQ(validation.findings.size(), 1U);
  EXPECT_EQ(validation.findings[0].kind, "manifest");
  EXPECT_THAT(validation.findings[0].detail, HasSubstr("args[3] is 97000000, not 96000000"));
}

TEST(Validator, TakesAManifestWithLargerBuffersAndOtherContents) {
  CodeObject object = objectOf(ragged);
  object.manifest.buffers[0].bytes += 64;
  object.manifest.buffers[0].init.seed += 1;
  object.manifest.buffers[2].save = "c.bin";
  MockGemmDevice device;
  const auto validation = validate(object, gfx950(), device, {});
  ASSERT_TRUE(validation) << validation.error().message;
  EXPECT_TRUE(validation->ok);
}

} // namespace
} // namespace kw
