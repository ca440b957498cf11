// Kernelwright
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// RUN: kw-opt --kw-lower-indices %s | FileCheck %s

// CHECK-LABEL: llvm.func @map_index
llvm.func @map_index(%i: i32) -> i32 {
  // 7 + 64 * bits[4,6) + (16 ^ (16 * bits[0,3)))
  // CHECK: %[[LOW:.*]] = llvm.and %arg0
  // CHECK: %[[SCALED:.*]] = llvm.mul %[[LOW]]
  // CHECK: %[[XOR:.*]] = llvm.xor %[[SCALED]]
  // CHECK: %[[SHIFTED:.*]] = llvm.lshr %arg0
  // CHECK: %[[HIGH:.*]] = llvm.and %[[SHIFTED]]
  // CHECK: %[[SUM:.*]] = llvm.mul %[[HIGH]]
  // CHECK: llvm.add %[[XOR]], %[[SUM]]
  // CHECK-NOT: kw.map_index
  %r = kw.map_index %i add 7 [4, 2, 64] xor 16 [0, 3, 16]
  llvm.return %r : i32
}

// The wave is uniform; one wave needs no question.
// CHECK-LABEL: llvm.func @waves
llvm.func @waves() -> i32 {
  // CHECK: rocdl.workitem.id.x
  // CHECK: llvm.lshr
  // CHECK: rocdl.readfirstlane
  %w = kw.wave_index 4
  // CHECK-NOT: rocdl.readfirstlane
  %one = kw.wave_index 1
  %s = llvm.add %w, %one : i32
  llvm.return %s : i32
}

// CHECK-LABEL: llvm.func @row_major
llvm.func @row_major(%id: i32, %m: i32) -> i32 {
  // CHECK: llvm.udiv %arg0
  // CHECK: llvm.urem %arg0
  // CHECK-NOT: llvm.intr.umin
  %tm, %tn = kw.tile_of %id of %m x 16 xcds 1 group 0
  %s = llvm.add %tm, %tn : i32
  llvm.return %s : i32
}

// Both remap and groups take the smaller of two numbers at ragged ends.
// CHECK-LABEL: llvm.func @grouped
// CHECK-COUNT-2: llvm.intr.umin
// CHECK-COUNT-2: rocdl.readfirstlane
llvm.func @grouped(%id: i32, %m: i32) -> i32 {
  %tm, %tn = kw.tile_of %id of %m x 16 xcds 8 group 4
  %s = llvm.add %tm, %tn : i32
  llvm.return %s : i32
}

// Neighbours in tile order are the splits of one tile.
// CHECK-LABEL: llvm.func @split
// CHECK: llvm.udiv %arg0
// CHECK: %[[SPLIT:.*]] = llvm.urem %arg0
// CHECK: rocdl.readfirstlane %[[SPLIT]]
llvm.func @split(%id: i32, %m: i32) -> i32 {
  %tm, %tn = kw.tile_of %id of %m x 16 xcds 1 group 0 {splits = 4 : i32}
  %split = kw.split_of %id of %m x 16 xcds 1 splits 4
  %s = llvm.add %tm, %tn : i32
  %t = llvm.add %s, %split : i32
  llvm.return %t : i32
}

// CHECK-LABEL: llvm.func @buffer
llvm.func @buffer(%p: !llvm.ptr<1>, %n: i32) -> !llvm.ptr<8> {
  // CHECK: %[[BYTES:.*]] = llvm.zext %arg1
  // CHECK: %[[FLAGS:.*]] = llvm.mlir.constant(159744 : i32)
  // CHECK: rocdl.make.buffer.rsrc %arg0, %{{.*}}, %[[BYTES]], %[[FLAGS]]
  %b = kw.buffer %p bytes %n : !llvm.ptr<1> -> !llvm.ptr<8>
  llvm.return %b : !llvm.ptr<8>
}

// A scalar from whatever register LLVM holds the number in.
// CHECK-LABEL: llvm.func @pinned
// CHECK: %[[SCALAR:.*]] = rocdl.readfirstlane %arg0
// CHECK: llvm.inline_asm {{.*}}"; scalar", "=s,0" %[[SCALAR]]
llvm.func @pinned(%x: i32) -> i32 {
  %s = kw.pin_scalar %x
  llvm.return %s : i32
}
