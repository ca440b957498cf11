// Kernelwright
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// RUN: kw-opt --kw-lower-atomics %s | FileCheck %s

// CHECK-LABEL: llvm.func @arrive
// CHECK-SAME: %[[BUFFER:.*]]: !llvm.ptr<8>, %[[LANE:.*]]: i32
llvm.func @arrive(%buffer: !llvm.ptr<8>, %lane: i32) -> i32 {
  // CHECK: llvm.fence syncscope("agent") release
  // CHECK: %[[BEFORE:.*]] = llvm.call_intrinsic "llvm.amdgcn.raw.ptr.buffer.atomic.add"
  // CHECK-SAME: %[[BUFFER]], %[[LANE]]
  // CHECK: llvm.fence syncscope("agent") acquire
  // CHECK-NEXT: %[[UNIFORM:.*]] = rocdl.readfirstlane %[[BEFORE]]
  // CHECK-NEXT: llvm.return %[[UNIFORM]]
  %count = kw.arrive %buffer[%lane] : !llvm.ptr<8>
  llvm.return %count : i32
}

// CHECK-LABEL: llvm.func @add
// CHECK-SAME: %[[VALUE:.*]]: f32, %[[BUFFER:.*]]: !llvm.ptr<8>, %[[LANE:.*]]: i32, %[[SCALAR:.*]]: i32
llvm.func @add(%value: f32, %buffer: !llvm.ptr<8>, %lane: i32, %scalar: i32) {
  // CHECK: %[[OFFSET:.*]] = llvm.add %[[LANE]]
  // CHECK: rocdl.raw.ptr.buffer.atomic.fadd %[[VALUE]], %[[BUFFER]], %[[OFFSET]], %[[SCALAR]]
  kw.atomic_add %value, %buffer[%lane, %scalar, 12] : !llvm.ptr<8>
  llvm.return
}
