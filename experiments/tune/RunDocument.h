// Kernelwright
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// JSON that comes from a store is a file's content, not a promise: what is asked before it is read.
#pragma once

#include "experiments/support/Json.h"
#include "search/Trial.h"

namespace kw {

/// Whether all that is read of a run's document is there and of its type.
bool isRunDocument(const Json &document);

/// The same of the value of a rung's result whose trial was ok.
bool isResultValue(Rung rung, const Json &value);

} // namespace kw
