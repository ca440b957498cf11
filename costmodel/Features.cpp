// Kernelwright
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "costmodel/Features.h"

#include "costmodel/Constants.h"

namespace kw {
namespace {

class Uncalibrated final : public Calibration {
public:
  Correction correct(const ModelCase &) const override { return {0, constants::logSpread80}; }
};

} // namespace

const Calibration &uncalibrated() {
  static const Uncalibrated none;
  return none;
}

} // namespace kw
