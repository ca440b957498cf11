// Kernelwright
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "codegen/Compile.h"

#include "codegen/Backend.h"
#include "codegen/Disassembly.h"
#include "codegen/Pipeline.h"
#include "codegen/Resources.h"
#include "codegen/kernels/Kernels.h"
#include "ir/Generator.h"
#include "ir/KernelPlan.h"
#include "ir/Rule.h"
#include "ir/dialect/KwDialect.h"
#include "ir/rules/EmissionLimits.h"

#include <cassert>
#include <chrono>
#include <fmt/format.h>
#include <llvm/Config/llvm-config.h>
#include <llvm/Support/raw_ostream.h>
#include <mlir/Dialect/GPU/IR/GPUDialect.h>
#include <mlir/Dialect/LLVMIR/LLVMDialect.h>
#include <mlir/Dialect/LLVMIR/ROCDLDialect.h>
#include <mlir/IR/BuiltinOps.h>
#include <mlir/IR/Diagnostics.h>
#include <mlir/Pass/PassManager.h>
#include <mlir/Target/LLVMIR/Dialect/Builtin/BuiltinToLLVMIRTranslation.h>
#include <mlir/Target/LLVMIR/Dialect/GPU/GPUToLLVMIRTranslation.h>
#include <mlir/Target/LLVMIR/Dialect/LLVMIR/LLVMToLLVMIRTranslation.h>
#include <mlir/Target/LLVMIR/Dialect/ROCDL/ROCDLToLLVMIRTranslation.h>

namespace kw {
namespace {

/// Raise it when the code that is emitted changes: results in stores are keyed by it.
constexpr int codegenVersion = 11;

const mlir::DialectRegistry &dialects() {
  static const mlir::DialectRegistry registry = [] {
    mlir::DialectRegistry result;
    result.insert<dialect::KwDialect, mlir::gpu::GPUDialect, mlir::LLVM::LLVMDialect,
                  mlir::ROCDL::ROCDLDialect>();
    mlir::registerBuiltinDialectTranslation(result);
    mlir::registerGPUDialectTranslation(result);
    mlir::registerLLVMDialectTranslation(result);
    mlir::registerROCDLDialectTranslation(result);
    return result;
  }();
  return registry;
}

std::string print(mlir::Operation *op) {
  std::string text;
  llvm::raw_string_ostream stream(text);
  op->print(stream);
  text += "\n";
  return text;
}

/// Runs the lowering; the first diagnostic is the error.
Expected<void> lower(mlir::ModuleOp module) {
  std::string message;
  mlir::ScopedDiagnosticHandler handler(module.getContext(), [&](mlir::Diagnostic &diagnostic) {
    if (message.empty() && diagnostic.getSeverity() == mlir::DiagnosticSeverity::Error) {
      message = diagnostic.str();
    }
    return mlir::success();
  });
  mlir::PassManager passes(module.getContext());
  addLowering(passes);
  if (mlir::failed(passes.run(module))) {
    return failed("lowering the tile program failed: " + message);
  }
  return {};
}

mlir::gpu::GPUModuleOp emitKernels(mlir::ModuleOp module, const KernelRequest &request) {
  mlir::OpBuilder builder = mlir::OpBuilder::atBlockEnd(module.getBody());
  auto kernels = mlir::gpu::GPUModuleOp::create(builder, module.getLoc(), "kernels");
  switch (request.problem.family()) {
  case Family::gemm:
    emitGemm(kernels, request);
    break;
  case Family::rmsnorm:
    emitRmsNorm(kernels, request);
    break;
  case Family::attention:
    emitAttention(kernels, request);
    break;
  case Family::groupedGemm:
  case Family::topk:
    assert(false && "refused before: checkRequest");
  }
  return kernels;
}

InstructionCounts sumOf(const std::vector<KernelDisassembly> &kernels) {
  InstructionCounts sum;
  for (const KernelDisassembly &kernel : kernels) {
    const ClassCounts counts = kernel.counts();
    const int mfma = counts[InstructionClass::mfma];
    const int valu = counts[InstructionClass::valu];
    const int salu = counts[InstructionClass::salu];
    sum.mfma += mfma;
    sum.lds += counts.lds();
    sum.vmem += counts.vmem();
    sum.valu += valu;
    sum.salu += salu;
    sum.other += counts.total() - mfma - counts.lds() - counts.vmem() - valu - salu;
  }
  return sum;
}

Expected<void> checkRequest(const KernelRequest &request) {
  const std::vector<Violation> violations =
      checkLegal(request.problem, request.schedule, request.target);
  if (!violations.empty()) {
    return badInput(fmt::format("illegal schedule: {}: {}", violations.front().rule,
                                violations.front().message));
  }
  if (const auto limit = emissionLimit(request.problem, request.schedule, request.target)) {
    return badInput(fmt::format("{} cannot be compiled: {}: {}", print(request.problem),
                                limit->rule, limit->message));
  }
  return {};
}

/// Everything that needs MLIR: texts as far as asked for, then machine code.
Expected<BackendOutput> makeMachineCode(const KernelRequest &request, const CompileOptions &options,
                                        std::map<std::string, std::string> &texts) {
  mlir::MLIRContext context(dialects(), mlir::MLIRContext::Threading::DISABLED);
  context.loadAllAvailableDialects();
  auto module =
      mlir::OwningOpRef<mlir::ModuleOp>(mlir::ModuleOp::create(mlir::UnknownLoc::get(&context)));
  mlir::gpu::GPUModuleOp kernels = emitKernels(*module, request);
  if (options.keepKw) {
    texts["kw.mlir"] = print(*module);
  }
  if (Expected<void> lowered = lower(*module); !lowered) {
    return tl::unexpected(lowered.error());
  }
  if (options.keepMlir) {
    texts["mlir"] = print(*module);
  }
  Expected<BackendOutput> output =
      runBackend(kernels, request.target.name, {options.keepLlvm, options.keepIsa});
  if (output && options.keepLlvm) {
    texts["ll"] = output->llvm;
  }
  if (output && options.keepIsa) {
    texts["s"] = output->isa;
  }
  return output;
}

Expected<void> describe(Compiled &compiled) {
  Expected<std::vector<KernelResources>> resources = readResources(compiled.object.hsaco);
  if (!resources) {
    return tl::unexpected(resources.error());
  }
  compiled.object.kernels = std::move(*resources);
  Expected<InstructionCounts> counts = countInstructions(compiled.object.hsaco);
  if (!counts) {
    return tl::unexpected(counts.error());
  }
  compiled.instructions = *counts;
  return {};
}

} // namespace

Expected<InstructionCounts> countInstructions(const std::vector<std::uint8_t> &hsaco) {
  const Expected<std::vector<KernelDisassembly>> code = disassemble(hsaco);
  if (!code) {
    return tl::unexpected(code.error());
  }
  return sumOf(*code);
}

Expected<Compiled> compile(const Problem &problem, const Schedule &schedule, const Target &target,
                           const CompileOptions &options) {
  const auto start = std::chrono::steady_clock::now();
  if (kindOf(schedule).generator != Generator::kw) {
    return badInput(fmt::format("{} is compiled by Triton, not by kw: `kw export inductor` writes "
                                "it as a row, with which torch.compile takes it",
                                print(schedule)));
  }
  const KernelRequest request{problem, schedule, target};
  if (Expected<void> legal = checkRequest(request); !legal) {
    return tl::unexpected(legal.error());
  }
  Compiled compiled;
  Expected<BackendOutput> output = makeMachineCode(request, options, compiled.texts);
  if (!output) {
    return tl::unexpected(output.error());
  }
  compiled.object.hsaco = std::move(output->hsaco);
  if (Expected<void> described = describe(compiled); !described) {
    return tl::unexpected(described.error());
  }
  compiled.object.manifest =
      makeManifest(problem, schedule, target, kernelName(problem, schedule) + ".hsaco");
  const std::chrono::duration<double, std::milli> spent = std::chrono::steady_clock::now() - start;
  compiled.milliseconds = spent.count();
  return compiled;
}

std::string compilerFingerprint() {
  return fmt::format("llvm {} codegen {}", LLVM_VERSION_STRING, codegenVersion);
}

} // namespace kw
