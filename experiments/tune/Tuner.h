// Kernelwright
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The loop for one problem: space, strategy, compile, rank, validate, store. Interrupted at any
// moment, the same call goes on where it was and ends with the same candidates.
#pragma once

#include "experiments/inductor/Bundle.h"
#include "experiments/inductor/LookupTable.h"
#include "experiments/tune/RungRunner.h"

namespace kw {

/// The document of `kw tune` for one problem (CLI.md), `bundle` left null. Runs that were finished
/// before come from the store. `nothingLegal` when the space is empty; `failed` when no candidate
/// survived.
Expected<Json> tune(const TuneSpec &spec, TuneContext &context);

/// The finished run's document with paths of this store; nothing if it has to run (again), because
/// it never finished or its files are gone.
Expected<std::optional<Json>> finishedRun(Store &store, const RunRecord &run);

/// Whether the document's kernels were compiled, ranked and judged by this version of the program.
bool isCurrent(const Json &document);

/// Whose schedules the document ranks.
Generator generatorOf(const Json &document);

/// The best `top` candidates of each document of the generator triton, as rows to export.
Expected<std::vector<LookupEntry>> lookupEntries(std::span<const Json> documents, int top);

/// The best candidate of each document of our own kernels for the exporter; documents of failures
/// are left out. A kernel may be best for several problems, which differ in run-time sizes: each
/// has its entry, so that the loader knows all sizes that it was tuned for. An error if one was not
/// compiled.
Expected<std::vector<BundleEntry>> bundleEntries(std::span<const Json> documents);

} // namespace kw
