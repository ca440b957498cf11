// Kernelwright
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// RUN: kw-opt --kw-pin-order %s | FileCheck %s

// A scheduling barrier behind every tile operation of a marked function, and the mark is gone.
// CHECK-LABEL: llvm.func @pinned
// CHECK-NOT: kw.pin_order
// CHECK: kw.load
// CHECK-NEXT: rocdl.sched.barrier 0
// CHECK-NEXT: llvm.add
// CHECK-NEXT: kw.wait
// CHECK-NEXT: rocdl.sched.barrier 0
// CHECK-NEXT: kw.barrier
// CHECK-NEXT: rocdl.sched.barrier 0
llvm.func @pinned(%b: !llvm.ptr<8>, %l: i32, %s: i32) attributes {kw.pin_order} {
  %v = kw.load %b[%l, %s, 0] : !llvm.ptr<8> -> vector<4xi32>
  %t = llvm.add %l, %s : i32
  kw.wait vector 3 lds -1
  kw.barrier
  llvm.return
}

// CHECK-LABEL: llvm.func @free
// CHECK-NOT: rocdl.sched.barrier
llvm.func @free() {
  kw.barrier
  llvm.return
}
