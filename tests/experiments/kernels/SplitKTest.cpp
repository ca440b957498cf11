// Kernelwright
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Results of split-K over orders of the waves, hence of arrival.
#include "runtime/Validator.h"
#include "tests/experiments/kernels/CompiledKernels.h"

#include <gtest/gtest.h>
#include <set>
#include <string>

namespace kw {
namespace {

const Target &gfx950() { return **findTarget("gfx950"); }

std::size_t distinctResults(const std::string &reduce) {
  const CodeObject object =
      compiled("gemm m=20 n=100 k=2048 dtype=bf16 out=f32 b=nk",
               "gemm.1:tile=32x64x64,waves=1x4,splitk=11,group=0,reduce=" + reduce);
  const std::unique_ptr<Device> device = makeEmulatedDevice();
  std::set<std::string> results;
  for (std::uint64_t seed = 0; seed < 6; ++seed) {
    results.insert(resultOf(object, *device, seed));
  }
  return results.size();
}

TEST(SplitK, OrderedSumsDoNotDependOnTheOrderOfArrival) {
  EXPECT_EQ(distinctResults("ordered"), 1u);
}

/// The counterpart: the orders of arrival did differ.
TEST(SplitK, AtomicSumsDo) { EXPECT_GT(distinctResults("atomic"), 1u); }

/// Waves along k, alone and with splits; more slices than two, fragments of both sizes, AGPRs.
TEST(SliceK, Validates) {
  const std::unique_ptr<Device> device = makeEmulatedDevice();
  for (const auto &[problem, schedule] : std::vector<std::pair<std::string, std::string>>{
           {"gemm m=20 n=200 k=1408 dtype=bf16 b=nk", "tile=32x64x128,waves=1x2,slicek=2"},
           {"gemm m=20 n=200 k=1000 dtype=bf16", "tile=16x64x128,waves=1x2,slicek=4,epi=swap"},
           {"gemm m=20 n=200 k=1408 dtype=bf16 b=nk beta=2 epilogue=bias",
            "tile=32x64x128,waves=1x1,mfma=32x32x16,slicek=4,acc=agpr"},
           {"gemm m=33 n=72 k=640 dtype=f16", "tile=32x64x64,waves=2x2,slicek=2,a=lds,b=lds"},
           {"gemm m=33 n=72 k=640 dtype=f16",
            "tile=32x64x64,waves=2x2,slicek=2,schedule=interleaved,stages=1,prefetch=0"},
           {"gemm m=33 n=72 k=1024 dtype=f16 b=nk",
            "tile=32x64x128,waves=1x2,slicek=2,splitk=4,reduce=atomic"},
           {"gemm m=33 n=72 k=1024 dtype=f16 b=nk", "tile=32x64x128,waves=1x2,slicek=2,splitk=3"},
       }) {
    const CodeObject object = compiled(problem, "gemm.1:group=0,xcd=0," + schedule);
    const auto validation = validate(object, gfx950(), *device, {});
    ASSERT_TRUE(validation) << validation.error().message;
    EXPECT_TRUE(validation->ok) << problem << " " << schedule << ": "
                                << validation->findings.front().kind << " "
                                << validation->findings.front().detail;
  }
}

/// Operand swap with an exchange between lanes, fragments of both sizes, edges, what is read.
TEST(PermlaneEpilogue, Validates) {
  const std::unique_ptr<Device> device = makeEmulatedDevice();
  for (const auto &[problem, schedule] : std::vector<std::pair<std::string, std::string>>{
           {"gemm m=100 n=200 k=256 dtype=bf16 b=nk", "tile=64x64x64,waves=2x2"},
           {"gemm m=100 n=200 k=256 dtype=f16 ldc=208 beta=1 epilogue=bias,silu,mul",
            "tile=64x128x64,waves=1x4"},
           {"gemm m=100 n=200 k=256 dtype=bf16 b=nk epilogue=add",
            "tile=64x128x64,waves=2x2,mfma=32x32x16"},
       }) {
    const CodeObject object = compiled(problem, "gemm.1:xcd=0,group=0,epi=permlane," + schedule);
    const auto validation = validate(object, gfx950(), *device, {});
    ASSERT_TRUE(validation) << validation.error().message;
    EXPECT_TRUE(validation->ok) << problem << " " << schedule << ": "
                                << validation->findings.front().kind << " "
                                << validation->findings.front().detail;
  }
}

/// Last splits shorter than the others, one step a split, epilogues, every layout of fragments.
TEST(SplitK, ValidatesInBothForms) {
  const std::unique_ptr<Device> device = makeEmulatedDevice();
  const std::string decode = "gemm m=20 n=200 k=1408 dtype=bf16 b=nk";
  for (const auto &[problem, schedule] : std::vector<std::pair<std::string, std::string>>{
           {decode, "tile=32x64x64,waves=1x4,splitk=11"},
           {decode, "tile=32x64x64,waves=1x4,splitk=6"},
           {decode, "tile=32x64x64,waves=1x4,splitk=22"},
           {decode + " beta=1 epilogue=bias,gelu", "tile=16x64x128,waves=1x4,splitk=3,epi=swap"},
           {decode + " epilogue=mul", "tile=32x128x64,waves=1x4,mfma=32x32x16,splitk=3"},
           {"gemm m=33 n=72 k=640 dtype=f16", "tile=32x64x64,waves=2x2,splitk=4,acc=agpr"},
           {"gemm m=33 n=72 k=640 dtype=f16",
            "tile=32x64x64,waves=2x2,splitk=2,a=lds,b=lds,prefetch=2,stages=2"},
           {"gemm m=33 n=72 k=640 dtype=f16",
            "tile=32x64x64,waves=2x2,splitk=4,stages=1,prefetch=0"},
       }) {
    for (const char *reduce : {"", ",reduce=atomic"}) {
      const CodeObject object = compiled(problem, "gemm.1:group=0,xcd=0," + schedule + reduce);
      const auto validation = validate(object, gfx950(), *device, {});
      ASSERT_TRUE(validation) << validation.error().message;
      EXPECT_TRUE(validation->ok) << problem << " " << schedule << reduce << ": "
                                  << validation->findings.front().kind << " "
                                  << validation->findings.front().detail;
      EXPECT_EQ(object.kernels.front().vgprSpills, 0);
    }
  }
}

} // namespace
} // namespace kw
