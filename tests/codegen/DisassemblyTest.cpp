// Kernelwright
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "codegen/Disassembly.h"
#include "codegen/Compile.h"

#include <gtest/gtest.h>

using namespace kw;

namespace {

KernelDisassembly disassembled(const char *problem, const char *schedule) {
  const auto compiled =
      compile(*parseProblem(problem), *parseSchedule(schedule), **findTarget("gfx950"));
  EXPECT_TRUE(compiled.has_value()) << compiled.error().message;
  auto kernels = disassemble(compiled->object.hsaco);
  EXPECT_TRUE(kernels.has_value());
  return kernels->front();
}

} // namespace

TEST(Disassembly, CountsByClassAndEndsAtTheLastEnd) {
  const KernelDisassembly kernel =
      disassembled("gemm m=256 n=256 k=512 dtype=bf16 b=nk", "gemm.1:xcd=0,group=0");
  const ClassCounts counts = kernel.counts();
  // Two unrolled steps of 16 fragments and two slices; eight loads each, and a prologue's.
  EXPECT_EQ(counts[InstructionClass::mfma], 64);
  EXPECT_EQ(counts[InstructionClass::ldsDma], 24);
  EXPECT_EQ(counts[InstructionClass::ldsWrite], 0);
  EXPECT_EQ(counts.total(), static_cast<int>(kernel.instructions.size()));
  EXPECT_EQ(kernel.instructions.back().mnemonic(), "s_endpgm");
}

TEST(Disassembly, FindsTheLoop) {
  const KernelDisassembly kernel =
      disassembled("gemm m=256 n=256 k=512 dtype=bf16 b=nk", "gemm.1:xcd=0,group=0");
  const std::vector<MachineLoop> loops = kernel.loops();
  ASSERT_EQ(loops.size(), 1u);
  EXPECT_EQ(kernel.counts(loops[0])[InstructionClass::mfma], 64);
  EXPECT_EQ(kernel.instructions[loops[0].last].kind, InstructionClass::branch);
}

TEST(Disassembly, ReadsWaitCounters) {
  const KernelDisassembly kernel =
      disassembled("gemm m=256 n=256 k=512 dtype=bf16 b=nk", "gemm.1:xcd=0,group=0");
  bool vector = false;
  bool lds = false;
  for (const Instruction &instruction : kernel.instructions) {
    vector |= instruction.vmcnt == 0 && instruction.lgkmcnt == -1;
    lds |= instruction.lgkmcnt > 0;
  }
  EXPECT_TRUE(vector);
  EXPECT_TRUE(lds);
}
