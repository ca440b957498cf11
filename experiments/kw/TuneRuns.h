// Kernelwright
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// What `kw tune` and `kw resume` share: runs one after the other, their progress, interruption,
// bundle and table.
#pragma once

#include "experiments/kw/Command.h"
#include "experiments/store/Store.h"
#include "experiments/tune/TuneSpec.h"

#include <string>
#include <vector>

namespace kw {

struct TuneRequest {
  std::vector<TuneSpec> specs;
  std::string out;    ///< folder of the bundle; empty: none
  bool suite = false; ///< the document is an array
  double trialSeconds = 300;
};

Expected<ExitStatus> tuneAll(const TuneRequest &request, Store &store, const CommonOptions &common);

} // namespace kw
