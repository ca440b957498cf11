// Kernelwright
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// kw import FILE...: timings of others into the store, as `imported`.
#include "experiments/import/ImportedTimings.h"
#include "experiments/kw/Arguments.h"
#include "experiments/kw/Command.h"
#include "experiments/kw/Output.h"
#include "experiments/support/Files.h"

#include <fmt/format.h>
#include <map>
#include <memory>

namespace kw {
namespace {

struct ImportOptions {
  std::vector<std::string> files;
  std::string format = "auto";
  bool keepGoing = false;
};

const std::map<std::string, ImportFormat> formats{
    {"auto", ImportFormat::automatic}, {"kw", ImportFormat::kw}, {"aiter", ImportFormat::aiter}};

Expected<ExitStatus> importFiles(const ImportOptions &options, const CommonOptions &common) {
  std::vector<std::pair<std::string, ImportedTable>> tables;
  for (const std::string &file : options.files) { // bad input before the store is opened
    const auto table = TextTable::read(file);
    auto imported = table ? importedTimings(*table, formats.at(options.format))
                          : Expected<ImportedTable>(tl::unexpected(table.error()));
    if (!imported) {
      return tl::unexpected(imported.error());
    }
    tables.emplace_back(file, std::move(*imported));
  }
  auto store = Store::open(common.db, Store::Access::write);
  if (!store) {
    return tl::unexpected(store.error());
  }
  Json files = Json::array();
  bool anyBad = false;
  std::string text;
  for (const auto &[file, table] : tables) {
    const auto stored = store->import(table.timings);
    if (!stored) {
      return tl::unexpected(stored.error());
    }
    const std::size_t duplicates = table.timings.size() - *stored;
    Json bad = Json::array();
    for (const BadRow &row : table.bad) {
      bad.push_back({{"line", row.line}, {"error", row.error}});
      printError({Error::Kind::badInput, fmt::format("{}:{}: {}", file, row.line, row.error)},
                 false);
      anyBad = true;
    }
    text += fmt::format("{}: {} stored, {} known already, {} bad\n", file, *stored, duplicates,
                        table.bad.size());
    files.push_back({{"file", absolutePath(file).string()},
                     {"imported", *stored},
                     {"duplicates", duplicates},
                     {"bad", std::move(bad)}});
  }
  const auto printed = print(
      common, {{"files", files}, {"source", "imported"}, {"db", absolutePath(common.db).string()}},
      text);
  if (!printed) {
    return tl::unexpected(printed.error());
  }
  return anyBad && !options.keepGoing ? exitFailed : exitDone;
}

} // namespace

RunCommand addImport(CLI::App &app, const CommonOptions &common) {
  const auto options = std::make_shared<ImportOptions>();
  app.add_option("FILE", options->files, "tables of timings, .csv or .csv.gz")
      ->required()
      ->check(notEmpty);
  app.add_option("--format", options->format,
                 "auto; kw: columns problem, time_us; aiter: published tables")
      ->capture_default_str()
      ->check([](const std::string &text) {
        return formats.contains(text) ? std::string() : "accepted are auto kw aiter, not " + text;
      });
  app.add_flag("--keep-going", options->keepGoing, "bad rows don't make the call fail");
  return [options, &common] { return importFiles(*options, common); };
}

} // namespace kw
