// Kernelwright
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// RUN: kw-opt --kw-lower-reductions %s | FileCheck %s

// CHECK-LABEL: llvm.func @four
llvm.func @four(%x: f32) -> f32 {
  // CHECK: rocdl.update.dpp {{.*}} with 177, 15, 15, true
  // CHECK-NEXT: llvm.fadd
  // CHECK: rocdl.update.dpp {{.*}} with 78, 15, 15, true
  // CHECK-NEXT: llvm.fadd
  // CHECK-NOT: rocdl.update.dpp
  %s = kw.row_reduce add 4 %x
  llvm.return %s : f32
}

// CHECK-LABEL: llvm.func @wave
llvm.func @wave(%x: f32) -> f32 {
  // CHECK-COUNT-4: rocdl.update.dpp
  // CHECK: rocdl.permlane16.swap
  // CHECK: llvm.intr.maxnum
  // CHECK: rocdl.permlane32.swap
  // CHECK: llvm.intr.maxnum
  %s = kw.row_reduce max 64 %x
  llvm.return %s : f32
}

// The lanes of a column of a 16-wide result, then of a 32-wide one.
// CHECK-LABEL: llvm.func @column16
llvm.func @column16(%x: f32) -> f32 {
  // CHECK-NOT: rocdl.update.dpp
  // CHECK: rocdl.permlane16.swap
  // CHECK: rocdl.permlane32.swap
  %s = kw.row_reduce max 64 %x {stride = 16 : i32}
  llvm.return %s : f32
}

// CHECK-LABEL: llvm.func @column32
llvm.func @column32(%x: f32) -> f32 {
  // CHECK-NOT: rocdl.permlane16.swap
  // CHECK: rocdl.permlane32.swap
  %s = kw.row_reduce add 64 %x {stride = 32 : i32}
  llvm.return %s : f32
}
