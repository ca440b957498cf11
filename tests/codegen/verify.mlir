// Kernelwright
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// What the dialect's verifiers refuse.
// RUN: kw-opt --split-input-file --verify-diagnostics %s

llvm.func @fields(%i: i32) {
  // expected-error @+1 {{fields are triples (shift, width, factor)}}
  %r = kw.map_index %i add 0 [4, 2] xor 0 []
  llvm.return
}

// -----

llvm.func @bits(%i: i32) {
  // expected-error @+1 {{field (30, 4) leaves the 32 bits}}
  %r = kw.map_index %i add 0 [30, 4, 1] xor 0 []
  llvm.return
}

// -----

llvm.func @width(%b: !llvm.ptr<8>, %l: i32, %lds: !llvm.ptr<3>) {
  // expected-error @+1 {{moves 4, 12 or 16 bytes a lane, not 8}}
  kw.copy_to_lds %b[%l, %l, 0] to %lds[%l, 0] bytes 8 : !llvm.ptr<8>, !llvm.ptr<3>
  llvm.return
}

// -----

llvm.func @shape(%a: vector<8xbf16>, %c: vector<16xf32>) {
  // expected-error @+1 {{operand sizes do not fit shape 16x16x32}}
  %r = kw.mfma [16, 16, 32] %a, %a, %c : vector<8xbf16>, vector<8xbf16>, vector<16xf32>
  llvm.return
}

// -----

llvm.func @parts(%lds: !llvm.ptr<3>, %l: i32) {
  // expected-error @+1 {{joins 1 reads to 16 bytes}}
  %r = kw.read_fragment %lds[%l] at [0] transpose : !llvm.ptr<3> -> vector<8xbf16>
  llvm.return
}

// -----

llvm.func @lanes(%x: f32) {
  // expected-error @+1 {{lanes must be 2, 4, 8, 16, 32 or 64, not 6}}
  %r = kw.row_reduce add 6 %x
  llvm.return
}

// -----

llvm.func @stride(%x: f32) {
  // expected-error @+1 {{stride must be 1, 16 or 32 and below 64, not 8}}
  %r = kw.row_reduce add 64 %x {stride = 8 : i32}
  llvm.return
}

// -----

llvm.func @strideAboveLanes(%x: f32) {
  // expected-error @+1 {{stride must be 1, 16 or 32 and below 32, not 32}}
  %r = kw.row_reduce add 32 %x {stride = 32 : i32}
  llvm.return
}

// -----

llvm.func @counters() {
  // expected-error @+1 {{counters reach vector 63 and lds 15}}
  kw.wait vector 64 lds 0
  llvm.return
}

// -----

llvm.func @space(%b: !llvm.ptr<1>, %l: i32) {
  // expected-error @+1 {{operand #0 must be buffer resource}}
  %v = kw.load %b[%l, %l, 0] : !llvm.ptr<1> -> vector<4xi32>
  llvm.return
}
