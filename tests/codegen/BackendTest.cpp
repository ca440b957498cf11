// Kernelwright
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "codegen/Backend.h"

#include "codegen/Disassembly.h"

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <mlir/Dialect/GPU/IR/GPUDialect.h>
#include <mlir/Dialect/LLVMIR/LLVMDialect.h>
#include <mlir/Dialect/LLVMIR/ROCDLDialect.h>
#include <mlir/IR/BuiltinOps.h>
#include <mlir/Parser/Parser.h>
#include <mlir/Target/LLVMIR/Dialect/Builtin/BuiltinToLLVMIRTranslation.h>
#include <mlir/Target/LLVMIR/Dialect/GPU/GPUToLLVMIRTranslation.h>
#include <mlir/Target/LLVMIR/Dialect/LLVMIR/LLVMToLLVMIRTranslation.h>
#include <mlir/Target/LLVMIR/Dialect/ROCDL/ROCDLToLLVMIRTranslation.h>
#include <thread>

using namespace kw;
using testing::HasSubstr;

namespace {

/// A kernel that stores to `ldsBytes` of LDS and holds one more operation.
std::string kernelText(std::int64_t ldsBytes, std::string_view operation) {
  return fmt::format(R"(
gpu.module @m {{
  llvm.mlir.global internal @lds() {{addr_space = 3 : i32}} : !llvm.array<{} x i8> {{
    %u = llvm.mlir.undef : !llvm.array<{} x i8>
    llvm.return %u : !llvm.array<{} x i8>
  }}
  llvm.func @k(%p: !llvm.ptr<1>) attributes {{rocdl.kernel,
      rocdl.flat_work_group_size = "64,64", rocdl.reqd_work_group_size = array<i32: 64, 1, 1>}} {{
    %l = llvm.mlir.addressof @lds : !llvm.ptr<3>
    %v = llvm.load volatile %l : !llvm.ptr<3> -> i32
    {}
    llvm.store %v, %p : i32, !llvm.ptr<1>
    llvm.return
  }}
}})",
                     ldsBytes, ldsBytes, ldsBytes, operation);
}

Expected<BackendOutput> build(const std::string &text, std::string_view cpu = "gfx950",
                              const BackendOptions &options = {}) {
  mlir::DialectRegistry registry;
  registry.insert<mlir::gpu::GPUDialect, mlir::LLVM::LLVMDialect, mlir::ROCDL::ROCDLDialect>();
  mlir::registerBuiltinDialectTranslation(registry);
  mlir::registerGPUDialectTranslation(registry);
  mlir::registerLLVMDialectTranslation(registry);
  mlir::registerROCDLDialectTranslation(registry);
  mlir::MLIRContext context(registry, mlir::MLIRContext::Threading::DISABLED);
  auto module = mlir::parseSourceString<mlir::ModuleOp>(text, &context);
  if (!module) {
    return badInput("the test's own MLIR is wrong");
  }
  return runBackend(*module->getOps<mlir::gpu::GPUModuleOp>().begin(), cpu, options);
}

} // namespace

TEST(Backend, MakesCodeAndTexts) {
  const auto output = build(kernelText(256, ""), "gfx950", {true, true});
  ASSERT_TRUE(output.has_value()) << output.error().message;
  EXPECT_EQ(disassemble(output->hsaco)->front().kernel, "k");
  EXPECT_THAT(output->llvm, HasSubstr("define amdgpu_kernel void @k"));
  EXPECT_THAT(output->isa, HasSubstr(".amdhsa_kernel k"));
}

TEST(Backend, TooMuchLdsIsAnError) {
  ASSERT_TRUE(build(kernelText(163840, "")).has_value());
  const auto output = build(kernelText(163844, ""));
  ASSERT_FALSE(output.has_value());
  EXPECT_THAT(output.error().message, HasSubstr("local memory"));
}

TEST(Backend, BadAssemblyIsAnError) {
  const auto output =
      build(kernelText(256, R"(llvm.inline_asm has_side_effects "v_nonsense", "" : () -> ())"));
  ASSERT_FALSE(output.has_value());
  EXPECT_THAT(output.error().message, HasSubstr("LLVM code generation failed"));
}

TEST(Backend, UnknownFunctionIsAnError) {
  const auto output =
      build("gpu.module @m { llvm.func @f()\n llvm.func @k() attributes {rocdl.kernel} {\n"
            "llvm.call @f() : () -> ()\n llvm.return } }");
  ASSERT_FALSE(output.has_value());
  EXPECT_THAT(output.error().message, HasSubstr("undefined"));
}

TEST(Backend, UnknownGpuIsAnError) {
  EXPECT_THAT(build(kernelText(256, ""), "gfx9999").error().message, HasSubstr("gfx9999"));
}

/// An error leaves nothing behind: the next compilation gives the same bytes as one before it.
TEST(Backend, FailuresAndThreadsDoNotChangeTheResult) {
  const auto reference = build(kernelText(256, ""));
  ASSERT_TRUE(reference.has_value());
  ASSERT_FALSE(build(kernelText(200000, "")).has_value());
  std::vector<Expected<BackendOutput>> outputs(4);
  std::vector<std::thread> threads;
  for (auto &output : outputs) {
    threads.emplace_back([&output] { output = build(kernelText(256, "")); });
  }
  for (std::thread &thread : threads) {
    thread.join();
  }
  for (const auto &output : outputs) {
    ASSERT_TRUE(output.has_value()) << output.error().message;
    EXPECT_EQ(output->hsaco, reference->hsaco);
  }
}
