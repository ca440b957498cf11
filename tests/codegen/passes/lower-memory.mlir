// Kernelwright
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// RUN: kw-opt --kw-lower-memory %s | FileCheck %s

// CHECK-LABEL: llvm.func @global
llvm.func @global(%b: !llvm.ptr<8>, %l: i32, %s: i32) {
  // The immediate joins the lane's offset, the scalar stays apart.
  // CHECK: %[[IMM:.*]] = llvm.mlir.constant(64 : i32)
  // CHECK: %[[OFF:.*]] = llvm.add %arg1, %[[IMM]]
  // CHECK: %[[V:.*]] = rocdl.raw.ptr.buffer.load %arg0, %[[OFF]], %arg2
  %v = kw.load %b[%l, %s, 64] : !llvm.ptr<8> -> vector<4xi32>
  // CHECK: rocdl.raw.ptr.buffer.store %[[V]], %arg0, %arg1, %arg2
  kw.store %v, %b[%l, %s, 0] : vector<4xi32>, !llvm.ptr<8>
  llvm.return
}

// CHECK-LABEL: llvm.func @direct
llvm.func @direct(%b: !llvm.ptr<8>, %l: i32, %s: i32, %lds: !llvm.ptr<3>, %w: i32) {
  // CHECK: %[[SUM:.*]] = llvm.add %arg4
  // CHECK: %[[TO:.*]] = llvm.getelementptr %arg3[%[[SUM]]]
  // CHECK: %[[SIZE:.*]] = llvm.mlir.constant(16 : i32)
  // CHECK: rocdl.raw.ptr.buffer.load.lds %arg0, %[[TO]], %[[SIZE]], %arg1, %arg2, %
  kw.copy_to_lds %b[%l, %s, 0] to %lds[%w, 4096] bytes 16 : !llvm.ptr<8>, !llvm.ptr<3>
  llvm.return
}

// CHECK-LABEL: llvm.func @lds
llvm.func @lds(%lds: !llvm.ptr<3>, %l: i32, %v: vector<4xi32>) -> vector<8xbf16> {
  // CHECK: llvm.store %arg2, %{{.*}} {alignment = 16 : i64}
  kw.store_lds %v, %lds[%l, 0] : vector<4xi32>, !llvm.ptr<3>
  // CHECK: llvm.load %{{.*}} {alignment = 16 : i64} : !llvm.ptr<3> -> vector<8xbf16>
  %f = kw.read_fragment %lds[%l] at [128] : !llvm.ptr<3> -> vector<8xbf16>
  llvm.return %f : vector<8xbf16>
}

// CHECK-LABEL: llvm.func @transposed
llvm.func @transposed(%lds: !llvm.ptr<3>, %l: i32) -> vector<8xbf16> {
  // CHECK-COUNT-2: rocdl.ds.read.tr16.b64 {{.*}} -> vector<4xbf16>
  // CHECK: llvm.shufflevector {{.*}} [0, 1, 2, 3, 4, 5, 6, 7]
  %f = kw.read_fragment %lds[%l, %l] at [0, 1024] transpose : !llvm.ptr<3> -> vector<8xbf16>
  llvm.return %f : vector<8xbf16>
}

// Elements of 8 bits travel as i32.
// CHECK-LABEL: llvm.func @transposed_bytes
llvm.func @transposed_bytes(%lds: !llvm.ptr<3>, %l: i32) -> vector<4xi32> {
  // CHECK-COUNT-2: rocdl.ds.read.tr8.b64 {{.*}} -> vector<2xi32>
  // CHECK: llvm.shufflevector {{.*}} [0, 1, 2, 3]
  %f = kw.read_fragment %lds[%l, %l] at [0, 1024] transpose : !llvm.ptr<3> -> vector<4xi32>
  llvm.return %f : vector<4xi32>
}
