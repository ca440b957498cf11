// Kernelwright
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "codegen/Backend.h"

#include "codegen/AmdgpuTarget.h"
#include "codegen/Link.h"
#include "codegen/LlvmOptions.h"

#include <llvm/IR/DiagnosticHandler.h>
#include <llvm/IR/DiagnosticInfo.h>
#include <llvm/IR/DiagnosticPrinter.h>
#include <llvm/IR/LLVMContext.h>
#include <llvm/IR/LegacyPassManager.h>
#include <llvm/IR/Module.h>
#include <llvm/MC/TargetRegistry.h>
#include <llvm/Passes/PassBuilder.h>
#include <llvm/Support/raw_ostream.h>
#include <llvm/Target/TargetMachine.h>
#include <llvm/Target/TargetOptions.h>
#include <llvm/TargetParser/TargetParser.h>
#include <llvm/Transforms/Utils/Cloning.h>
#include <memory>
#include <mlir/Dialect/GPU/IR/GPUDialect.h>
#include <mlir/IR/Diagnostics.h>
#include <mlir/Target/LLVMIR/Export.h>

namespace kw {
namespace {

/// Collects errors. LLVM goes on after most of them and yields an object that is wrong, so that
/// only this record tells a failed compilation. Warnings and remarks are dropped.
struct ErrorCollector : llvm::DiagnosticHandler {
  explicit ErrorCollector(std::string &errors) : errors(errors) {}

  bool handleDiagnostics(const llvm::DiagnosticInfo &info) override {
    if (info.getSeverity() != llvm::DS_Error) {
      return true;
    }
    llvm::raw_string_ostream stream(errors);
    llvm::DiagnosticPrinterRawOStream printer(stream);
    if (!errors.empty()) {
      stream << "; ";
    }
    info.print(printer);
    return true;
  }

  std::string &errors;
};

std::unique_ptr<llvm::TargetMachine> makeTargetMachine(std::string_view cpu) {
  llvm::TargetOptions options;
  return std::unique_ptr<llvm::TargetMachine>(amdgpuTarget().createTargetMachine(
      amdgpuTriple(), cpu, /*Features=*/"", options, llvm::Reloc::PIC_, std::nullopt,
      llvm::CodeGenOptLevel::Aggressive));
}

/// Our IR is already in its final order, so two cheap clean-ups are enough: they fold the address
/// arithmetic that the lowering spells out. O3 gives the same loop for six times the time.
Expected<void> cleanUp(llvm::Module &module, llvm::TargetMachine &machine) {
  llvm::LoopAnalysisManager loops;
  llvm::FunctionAnalysisManager functions;
  llvm::CGSCCAnalysisManager sccs;
  llvm::ModuleAnalysisManager modules;
  llvm::PassBuilder builder(&machine);
  builder.registerModuleAnalyses(modules);
  builder.registerCGSCCAnalyses(sccs);
  builder.registerFunctionAnalyses(functions);
  builder.registerLoopAnalyses(loops);
  builder.crossRegisterProxies(loops, functions, sccs, modules);
  llvm::ModulePassManager passes;
  if (llvm::Error error = builder.parsePassPipeline(
          passes, "function(early-cse,instcombine<no-verify-fixpoint>)")) {
    return failed("LLVM pass pipeline: " + llvm::toString(std::move(error)));
  }
  passes.run(module, modules);
  return {};
}

Expected<std::string> emit(llvm::Module &module, llvm::TargetMachine &machine,
                           llvm::CodeGenFileType type) {
  llvm::SmallString<0> bytes;
  llvm::raw_svector_ostream stream(bytes);
  llvm::legacy::PassManager passes;
  if (machine.addPassesToEmitFile(passes, stream, nullptr, type)) {
    return failed("LLVM cannot emit this kind of file for AMDGPU");
  }
  CodeGenerationGuard guard;
  passes.run(module);
  return std::string(bytes);
}

/// MLIR reports on its own context; the first message is the cause.
std::unique_ptr<llvm::Module> translate(mlir::gpu::GPUModuleOp module, llvm::LLVMContext &context,
                                        std::string &errors) {
  mlir::ScopedDiagnosticHandler handler(module->getContext(), [&](mlir::Diagnostic &diagnostic) {
    if (errors.empty() && diagnostic.getSeverity() == mlir::DiagnosticSeverity::Error) {
      errors = diagnostic.str();
    }
    return mlir::success();
  });
  return mlir::translateModuleToLLVMIR(module, context, "kernelwright");
}

std::string print(const llvm::Module &module) {
  std::string text;
  llvm::raw_string_ostream stream(text);
  module.print(stream, nullptr);
  return text;
}

} // namespace

Expected<BackendOutput> runBackend(mlir::gpu::GPUModuleOp module, std::string_view cpu,
                                   const BackendOptions &options) {
  if (llvm::AMDGPU::parseArchAMDGCN(cpu) == llvm::AMDGPU::GK_NONE) {
    return badInput("LLVM does not know the GPU " + std::string(cpu));
  }
  std::unique_ptr<llvm::TargetMachine> machine = makeTargetMachine(cpu);
  std::string errors;
  llvm::LLVMContext context;
  context.setDiagnosticHandler(std::make_unique<ErrorCollector>(errors));
  std::unique_ptr<llvm::Module> llvmModule = translate(module, context, errors);
  if (!llvmModule) {
    return failed("translation to LLVM IR failed: " + errors);
  }
  llvmModule->setTargetTriple(amdgpuTriple());
  llvmModule->setDataLayout(machine->createDataLayout());
  if (Expected<void> cleaned = cleanUp(*llvmModule, *machine); !cleaned) {
    return tl::unexpected(cleaned.error());
  }

  BackendOutput output;
  if (options.keepLlvm) {
    output.llvm = print(*llvmModule);
  }
  if (options.keepIsa) {
    std::unique_ptr<llvm::Module> copy = llvm::CloneModule(*llvmModule);
    Expected<std::string> isa = emit(*copy, *machine, llvm::CodeGenFileType::AssemblyFile);
    if (!isa) {
      return tl::unexpected(isa.error());
    }
    output.isa = std::move(*isa);
  }
  Expected<std::string> object = emit(*llvmModule, *machine, llvm::CodeGenFileType::ObjectFile);
  if (!object) {
    return tl::unexpected(object.error());
  }
  if (!errors.empty()) {
    return failed("LLVM code generation failed: " + errors);
  }
  Expected<std::vector<std::uint8_t>> hsaco = linkHsaco(*object);
  if (!hsaco) {
    return tl::unexpected(hsaco.error());
  }
  output.hsaco = std::move(*hsaco);
  return output;
}

} // namespace kw
