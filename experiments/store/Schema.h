// Kernelwright
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The tables of a store and how an existing file is recognised. README.md explains them.
#pragma once

#include "experiments/store/Sqlite.h"

namespace kw {

/// In `PRAGMA application_id`: "kwst".
inline constexpr std::int64_t storeApplicationId = 0x6b777374;
/// In `PRAGMA user_version`. Counts up with every change of the tables.
inline constexpr std::int64_t storeSchemaVersion = 1;

/// Makes the tables in an empty file (writers only) or checks that the file is a store of this
/// version. `file` is named in the error.
Expected<void> prepareSchema(Database &database, const std::string &file, bool write);

} // namespace kw
