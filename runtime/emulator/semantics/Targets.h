// Kernelwright
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// SIMD targets that the semantics are compiled for: AVX-512, AVX2 and whatever the compiler's
// baseline is. Others would double the build for machines that nobody runs this on. Include before
// hwy/foreach_target.h.
#pragma once

#define HWY_DISABLED_TARGETS (HWY_SSSE3 | HWY_SSE4 | HWY_AVX3_DL)
