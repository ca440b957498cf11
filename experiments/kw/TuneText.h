// Kernelwright
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Documents of `kw tune` for people and for spreadsheets.
#pragma once

#include "experiments/support/Json.h"

#include <string>
#include <vector>

namespace kw {

/// Two decimals; "-" for null.
std::string microseconds(const Json &value);

/// The best candidate of each document and why it won; one problem: all its candidates.
std::string tuneText(const std::vector<Json> &documents);

/// All candidates of all documents, one a line.
std::string tuneCsv(const std::vector<Json> &documents);

} // namespace kw
