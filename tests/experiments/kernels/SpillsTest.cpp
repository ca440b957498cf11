// Kernelwright
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Kinds of kernels that once spilled: none does, up to the limits that the rules set.
#include "codegen/Compile.h"
#include "ir/Rule.h"

#include <gtest/gtest.h>
#include <string>
#include <vector>

namespace kw {
namespace {

const Target &gfx950() { return **findTarget("gfx950"); }

void expectNoSpill(const std::string &problem, const std::string &schedule) {
  SCOPED_TRACE(problem + " --schedule " + schedule);
  const Problem parsed = *parseProblem(problem);
  const Schedule decided = *parseSchedule("gemm.1:xcd=0,group=0," + schedule);
  const std::vector<Violation> violations = checkLegal(parsed, decided, gfx950());
  ASSERT_TRUE(violations.empty()) << violations.front().message;
  const auto compiled = compile(parsed, decided, gfx950());
  ASSERT_TRUE(compiled) << compiled.error().message;
  const KernelResources &kernel = compiled->object.kernels.front();
  EXPECT_EQ(kernel.vgprSpills, 0);
  EXPECT_EQ(kernel.sgprSpills, 0);
}

/// Operands with rows along k: a distance a load would be a loop invariant each.
TEST(Spills, LoadsThatWalkAlongK) {
  const std::string problem = "gemm m=20002 n=1001 k=701 dtype=bf16 a=km";
  for (const std::string inputs : {"", " beta=1 epilogue=bias,add,mul"}) {
    expectNoSpill(problem + inputs, "tile=64x64x64,a=lds,b=lds,va=2,vb=2,grid=persistent");
    expectNoSpill(problem + inputs, "tile=128x64x64,a=lds,b=lds,va=4,vb=2");
    expectNoSpill(problem + inputs, "tile=128x64x64,b=lds,va=4,vb=2");
  }
  expectNoSpill("gemm m=20000 n=1004 k=700 dtype=bf16 a=km",
                "tile=128x64x64,a=lds,va=4,vb=4,grid=persistent");
}

TEST(Spills, PersistentWithManyInputs) {
  expectNoSpill("gemm m=20002 n=1002 k=702 dtype=bf16 b=nk beta=1 epilogue=bias,add,mul",
                "tile=64x64x64,va=4,b=lds,vb=2,stages=3,prefetch=2,grid=persistent");
}

/// As many accumulators as VGPRs, which must not be copied all at once.
TEST(Spills, ResultsInAgprs) {
  for (const std::string steps : {"", " epilogue=relu"}) {
    const std::string problem = "gemm m=20000 n=1000 k=704 dtype=bf16 b=nk" + steps;
    for (const std::string grid : {"tiles", "persistent"}) {
      for (const std::string path : {"direct", "swap", "permlane", "lds"}) {
        const std::string rest = ",acc=agpr,grid=" + grid + ",epi=" + path;
        expectNoSpill(problem, "tile=256x256x32" + rest);
        expectNoSpill(problem, "tile=256x256x64,mfma=32x32x16" + rest);
        if (path != "lds") {
          expectNoSpill(problem, "tile=256x256x32,waves=4x2,mfma=32x32x16" + rest);
        }
      }
    }
  }
}

/// Partial sums in flight beside sums: 64 VGPRs, which are not there with four waves a SIMD.
TEST(Spills, SplitsThatAddUpBesideAgprs) {
  const std::string problem = "gemm m=486 n=1928 k=1408 dtype=f16 b=nk";
  const std::string tight = "tile=128x256x32,waves=4x2,acc=agpr,splitk=8,occupancy=4";
  EXPECT_FALSE(
      checkLegal(*parseProblem(problem), *parseSchedule("gemm.1:xcd=0,group=0," + tight), gfx950())
          .empty());
  for (const std::string inputs : {"", " beta=1 epilogue=bias,add,gelu"}) {
    expectNoSpill(problem + inputs, "tile=128x128x32,acc=agpr,splitk=8,occupancy=2");
    expectNoSpill(problem + inputs, "tile=256x256x32,waves=4x2,acc=agpr,splitk=8");
  }
}

} // namespace
} // namespace kw
