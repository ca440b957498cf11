// Kernelwright
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Puts the shipped calibration into the program as it is, so that no path has to be found.
#include "costmodel/calibration/Calibration.h"

// KW_SHIPPED_CALIBRATION is the file's path, a string; CMake rebuilds this when the file changes.
__asm__(".section .rodata\n"
        ".global kwShippedCalibrationBegin\n"
        "kwShippedCalibrationBegin:\n"
        ".incbin \"" KW_SHIPPED_CALIBRATION "\"\n"
        ".global kwShippedCalibrationEnd\n"
        "kwShippedCalibrationEnd:\n"
        ".previous\n");

extern "C" const char kwShippedCalibrationBegin[], kwShippedCalibrationEnd[];

namespace kw {

std::string_view shippedCalibration() {
  return {kwShippedCalibrationBegin, kwShippedCalibrationEnd};
}

} // namespace kw
