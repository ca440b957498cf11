// Kernelwright
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// RUN: kw-opt --kw-lower-sync %s | FileCheck %s

// CHECK-LABEL: llvm.func @sync
llvm.func @sync() {
  // vmcnt(0): every other counter at its maximum
  // CHECK: rocdl.s.waitcnt 3952
  kw.wait vector 0 lds -1
  // vmcnt(17): bits 14 and 15 hold the upper part
  // CHECK-NEXT: rocdl.s.waitcnt 20337
  kw.wait vector 17 lds -1
  // CHECK-NEXT: rocdl.s.waitcnt 49279
  kw.wait vector -1 lds 0
  // CHECK-NEXT: rocdl.s.waitcnt 112
  kw.wait vector 0 lds 0
  // CHECK-NEXT: rocdl.s.barrier
  kw.barrier
  // CHECK-NEXT: llvm.return
  kw.wait vector -1 lds -1
  llvm.return
}
