// Kernelwright
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "codegen/kernels/KernelShell.h"

#include <algorithm>
#include <cassert>
#include <fmt/format.h>
#include <mlir/Dialect/LLVMIR/ROCDLDialect.h>

using namespace mlir;

namespace kw {
namespace {

constexpr int ldsAlignment = 16; // of the widest access; the plan counts no more padding
constexpr unsigned ldsAddressSpace = 3, constantAddressSpace = 4;

/// What the kernels never ask for. Without these LLVM would pass eight more scalar registers and
/// 256 bytes of implicit arguments.
constexpr llvm::StringLiteral unusedInputs[] = {
    "amdgpu-no-cluster-id-x",       "amdgpu-no-cluster-id-y",      "amdgpu-no-cluster-id-z",
    "amdgpu-no-completion-action",  "amdgpu-no-default-queue",     "amdgpu-no-dispatch-id",
    "amdgpu-no-dispatch-ptr",       "amdgpu-no-flat-scratch-init", "amdgpu-no-heap-ptr",
    "amdgpu-no-hostcall-ptr",       "amdgpu-no-implicitarg-ptr",   "amdgpu-no-lds-kernel-id",
    "amdgpu-no-multigrid-sync-arg", "amdgpu-no-queue-ptr",         "amdgpu-no-workgroup-id-z",
    "amdgpu-no-workitem-id-y",      "amdgpu-no-workitem-id-z",
};

Type argumentType(MLIRContext *context, KernelArgument::Kind kind) {
  constexpr unsigned globalAddressSpace = 1;
  switch (kind) {
  case KernelArgument::Kind::pointer:
    return LLVM::LLVMPointerType::get(context, globalAddressSpace);
  case KernelArgument::Kind::i32:
    return IntegerType::get(context, 32);
  case KernelArgument::Kind::i64:
    return IntegerType::get(context, 64);
  case KernelArgument::Kind::f32:
    return Float32Type::get(context);
  }
  return {};
}

unsigned sizeOf(KernelArgument::Kind kind) {
  const bool isWide = kind == KernelArgument::Kind::pointer || kind == KernelArgument::Kind::i64;
  return isWide ? 8 : 4;
}

ArrayAttr passthrough(Builder &builder, const ShellOptions &options) {
  SmallVector<Attribute> attributes;
  auto addFlag = [&](StringRef name) { attributes.push_back(builder.getStringAttr(name)); };
  auto addPair = [&](StringRef name, const std::string &value) {
    attributes.push_back(
        builder.getArrayAttr({builder.getStringAttr(name), builder.getStringAttr(value)}));
  };
  addFlag("nounwind");
  if (!options.batched) {
    addFlag("amdgpu-no-workgroup-id-y");
  }
  for (StringRef name : unusedInputs) {
    addFlag(name);
  }
  // Must be said either way: LLVM's attributor would write "0" into kernels that want AGPRs.
  addPair("amdgpu-agpr-alloc", std::to_string(options.agprs));
  if (options.wavesPerSimd > 0) {
    addPair("amdgpu-waves-per-eu",
            fmt::format("{},{}", options.wavesPerSimd, options.wavesPerSimd));
  }
  return builder.getArrayAttr(attributes);
}

LLVM::LLVMFuncOp makeFunction(OpBuilder &builder, Location loc, const LaunchInterface &interface,
                              const ShellOptions &options) {
  MLIRContext *context = builder.getContext();
  SmallVector<Type> types;
  for (const KernelArgument &argument : interface.arguments) {
    types.push_back(argumentType(context, argument.kind));
  }
  auto type = LLVM::LLVMFunctionType::get(LLVM::LLVMVoidType::get(context), types);
  auto function = LLVM::LLVMFuncOp::create(builder, loc, interface.kernel, type);
  const auto workItems = static_cast<std::int32_t>(interface.block[0]);
  function->setAttr("rocdl.kernel", builder.getUnitAttr());
  function->setAttr("rocdl.flat_work_group_size",
                    builder.getStringAttr(fmt::format("{},{}", workItems, workItems)));
  function->setAttr("rocdl.reqd_work_group_size", builder.getDenseI32ArrayAttr({workItems, 1, 1}));
  function->setAttr("passthrough", passthrough(builder, options));
  if (options.pinOrder) {
    function->setAttr("kw.pin_order", builder.getUnitAttr());
  }
  for (auto [index, argument] : llvm::enumerate(interface.arguments)) {
    if (argument.kind == KernelArgument::Kind::pointer) {
      function.setArgAttr(index, "llvm.noalias", builder.getUnitAttr());
    }
  }
  return function;
}

} // namespace

KernelShell::KernelShell(gpu::GPUModuleOp module, const LaunchInterface &interface,
                         const ShellOptions &options)
    : tiles(OpBuilder::atBlockEnd(module.getBody()), module.getLoc()), module(module),
      interface(interface) {
  function = makeFunction(tiles.builder, tiles.loc, interface, options);
  tiles.builder.setInsertionPointToStart(function.addEntryBlock(tiles.builder));
}

bool KernelShell::hasArgument(std::string_view name) const {
  return std::any_of(interface.arguments.begin(), interface.arguments.end(),
                     [&](const KernelArgument &argument) { return argument.name == name; });
}

void KernelShell::rereadArguments() {
  OpBuilder &builder = tiles.builder;
  MLIRContext *context = builder.getContext();
  Type pointer = LLVM::LLVMPointerType::get(context, constantAddressSpace);
  Value segment = LLVM::CallIntrinsicOp::create(
                      builder, tiles.loc, pointer,
                      builder.getStringAttr("llvm.amdgcn.kernarg.segment.ptr"), ValueRange{})
                      .getResults();
  segment = tiles.again(segment, "s");
  for (const KernelArgument &argument : interface.arguments) {
    Value place = LLVM::GEPOp::create(builder, tiles.loc, pointer, builder.getI8Type(), segment,
                                      ArrayRef<LLVM::GEPArg>{argument.offset});
    reread[argument.name] = LLVM::LoadOp::create(
        builder, tiles.loc, argumentType(context, argument.kind), place, sizeOf(argument.kind),
        /*isVolatile=*/false, /*isNonTemporal=*/false, /*isInvariant=*/true);
  }
}

Value KernelShell::argument(std::string_view name) const {
  if (const auto found = reread.find(name); found != reread.end()) {
    return found->second;
  }
  for (auto [index, argument] : llvm::enumerate(interface.arguments)) {
    if (argument.name == name) {
      return function.getArgument(index);
    }
  }
  assert(false && "the plan's interface lacks an argument that the kernel needs");
  return {};
}

Value KernelShell::makeLds(std::string_view name, std::int64_t bytes) {
  OpBuilder globals = OpBuilder::atBlockBegin(module.getBody());
  auto type = LLVM::LLVMArrayType::get(globals.getI8Type(), bytes);
  const std::string symbol = fmt::format("{}.{}", interface.kernel, name);
  auto global = LLVM::GlobalOp::create(globals, tiles.loc, type, /*isConstant=*/false,
                                       LLVM::Linkage::Internal, symbol, Attribute(), ldsAlignment,
                                       ldsAddressSpace, /*dsoLocal=*/true);
  // LDS has no initial contents; LLVM wants that said.
  OpBuilder initializer(global.getContext());
  initializer.createBlock(&global.getInitializerRegion());
  Value undefined = LLVM::UndefOp::create(initializer, tiles.loc, type);
  LLVM::ReturnOp::create(initializer, tiles.loc, undefined);
  return LLVM::AddressOfOp::create(tiles.builder, tiles.loc, global);
}

Value KernelShell::wholeLds() {
  Type pointer = LLVM::LLVMPointerType::get(tiles.builder.getContext(), ldsAddressSpace);
  return LLVM::IntToPtrOp::create(tiles.builder, tiles.loc, pointer, tiles.constant(0));
}

} // namespace kw
