// Kernelwright
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// RUN: kw-opt --kw-lower-matrix --split-input-file --verify-diagnostics %s | FileCheck %s

// CHECK-LABEL: llvm.func @mfma
llvm.func @mfma(%a: vector<8xbf16>, %b: vector<8xbf16>, %c: vector<4xf32>, %h: vector<8xf16>,
                %d: vector<16xf32>) {
  // CHECK: rocdl.mfma.f32.16x16x32.bf16 %arg0, %arg1, %arg2
  %0 = kw.mfma [16, 16, 32] %a, %b, %c : vector<8xbf16>, vector<8xbf16>, vector<4xf32>
  // CHECK: rocdl.mfma.f32.32x32x16.f16 %arg3, %arg3, %arg4
  %1 = kw.mfma [32, 32, 16] %h, %h, %d : vector<8xf16>, vector<8xf16>, vector<16xf32>
  llvm.return
}

// The bf16 instructions of gfx942 take i16.
// CHECK-LABEL: llvm.func @older
llvm.func @older(%a: vector<4xbf16>, %c: vector<4xf32>) {
  // CHECK-COUNT-2: llvm.bitcast {{.*}} : vector<4xbf16> to vector<4xi16>
  // CHECK: rocdl.mfma.f32.16x16x16bf16.1k
  %0 = kw.mfma [16, 16, 16] %a, %a, %c : vector<4xbf16>, vector<4xbf16>, vector<4xf32>
  llvm.return
}

// Four 8-bit integers an i32; the instructions of gfx942 take i64.
// CHECK-LABEL: llvm.func @integers
llvm.func @integers(%a: vector<4xi32>, %h: vector<2xi32>, %c: vector<4xi32>, %d: vector<16xi32>) {
  // CHECK: rocdl.mfma.i32.16x16x64.i8 %arg0, %arg0, %arg2
  %0 = kw.mfma [16, 16, 64] %a, %a, %c : vector<4xi32>, vector<4xi32>, vector<4xi32>
  // CHECK: rocdl.mfma.i32.32x32x32.i8 %arg0, %arg0, %arg3
  %1 = kw.mfma [32, 32, 32] %a, %a, %d : vector<4xi32>, vector<4xi32>, vector<16xi32>
  // CHECK-COUNT-2: llvm.bitcast %arg1 : vector<2xi32> to i64
  // CHECK: rocdl.mfma.i32.16x16x32.i8
  %2 = kw.mfma [16, 16, 32] %h, %h, %c : vector<2xi32>, vector<2xi32>, vector<4xi32>
  llvm.return
}

// One element a lane is a scalar.
// CHECK-LABEL: llvm.func @floats
llvm.func @floats(%a: vector<1xf32>, %c: vector<4xf32>, %d: vector<16xf32>) {
  // CHECK-COUNT-2: llvm.extractelement %arg0
  // CHECK: rocdl.mfma.f32.16x16x4f32
  %0 = kw.mfma [16, 16, 4] %a, %a, %c : vector<1xf32>, vector<1xf32>, vector<4xf32>
  // CHECK: rocdl.mfma.f32.32x32x2f32
  %1 = kw.mfma [32, 32, 2] %a, %a, %d : vector<1xf32>, vector<1xf32>, vector<16xf32>
  llvm.return
}

// CHECK-LABEL: llvm.func @pin
llvm.func @pin(%c: vector<4xf32>) -> vector<4xf32> {
  // CHECK: %[[V:.*]] = llvm.inline_asm "; accumulator", "=v,0" %arg0
  %v = kw.pin_accumulator %c : vector<4xf32>
  // CHECK: llvm.inline_asm "; accumulator", "=a,0" %[[V]]
  %a = kw.pin_accumulator agpr %v : vector<4xf32>
  llvm.return %a : vector<4xf32>
}

// -----

llvm.func @unknown(%a: vector<2xbf16>, %c: vector<4xf32>) {
  // expected-error @+1 {{no matrix instruction of this shape and type}}
  %0 = kw.mfma [16, 16, 8] %a, %a, %c : vector<2xbf16>, vector<2xbf16>, vector<4xf32>
  llvm.return
}
