// Kernelwright
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// What was run, tried and found out, in one SQLite file (README.md: tables and keys). A trial is
// written in one transaction before the next one starts, so nothing is lost and a killed process
// leaves a clean store. One process writes at a time, any number reads.
#pragma once

#include "experiments/store/Sqlite.h"
#include "experiments/store/WriterLock.h"
#include "experiments/support/Json.h"
#include "search/Trial.h"

#include <filesystem>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <vector>

namespace kw {

/// A tuning run. `id` follows from `spec`, so the same call is the same run.
struct RunRecord {
  std::string id;
  std::string problem, target, strategy;
  std::uint64_t seed = 0;
  std::string spec; ///< JSON text of everything that the outcome depends on
  bool done = false;
  std::string started, finished; ///< UTC, ISO 8601; empty: not yet
  double seconds = 0;            ///< spent so far, over all calls
  std::string document;          ///< JSON text of the outcome; empty: not done
};

/// What one rung said, under a key of just what it depends on.
struct ResultRecord {
  Rung rung = Rung::compiled;
  std::string key;
  TrialState state = TrialState::ok;
  std::string error;
  Json value = Json::object();
  std::string artifact; ///< sha256 of the HSACO; empty: none
  std::int64_t artifactBytes = 0;
};

/// One trial of one run at one rung.
struct TrialRecord {
  std::string run;
  Rung rung = Rung::compiled;
  std::string schedule;
  TrialState state = TrialState::ok;
  std::string error;
  double seconds = 0; ///< of the run's clock when it was written
};

/// The time in UTC, ISO 8601, as the store writes it.
std::string nowUtc();

/// A timing of others, as it was published.
struct ImportedTiming {
  std::string key;    ///< problem, kernel, time and origin: equal ones are the same timing
  std::string origin; ///< who published it, and when
  Json value = Json::object();
};

/// A time of the store, measured or imported.
struct StoredTiming {
  bool measured = false; ///< by `kw measure`; else imported
  std::string device;    ///< that it was measured on; empty: not told
  Json value = Json::object();
};

class Store {
public:
  enum class Access { read, write };

  /// Writers make the file if need be and hold the lock. Bad input: no store where one is needed,
  /// no database, another program's, another version's.
  static Expected<Store> open(const std::filesystem::path &file, Access access);

  const std::filesystem::path &file() const { return storeFile; }
  /// Folder of the HSACO files: FILE.files.
  std::filesystem::path artifactFolder() const;
  std::filesystem::path artifactFile(const std::string &hash) const;

  /// Notes that the run has begun; one that is known keeps its trials and time.
  Expected<void> beginRun(const RunRecord &run);
  Expected<void> finishRun(const std::string &id, const std::string &document, double seconds);
  /// Running again: an interrupted run goes on, a finished one (whose files are gone) starts over
  /// with no time spent.
  Expected<void> reopenRun(const std::string &id);
  /// By id or the start of one; several matches are an error.
  Expected<std::optional<RunRecord>> findRun(const std::string &idOrStart);
  /// Newest first.
  Expected<std::vector<RunRecord>> runs();

  Expected<std::optional<ResultRecord>> findResult(Rung rung, const std::string &key);
  /// The trial and its result, if it has one to keep: one transaction.
  Expected<void> record(const TrialRecord &trial, const std::optional<ResultRecord> &result);
  /// A result of no run, with the device that it was found on: one transaction. An older one of the
  /// same rung and key is replaced.
  Expected<void> keep(const ResultRecord &result, const std::string &device, const Json &detail);
  /// All in one transaction; those that are known already are left as they are. How many were new.
  Expected<std::size_t> import(std::span<const ImportedTiming> timings);
  /// Measured and imported ones, oldest first.
  Expected<std::vector<StoredTiming>> timings();
  /// In the order recorded.
  Expected<std::vector<TrialRecord>> trials(const std::string &run);

private:
  Store(std::filesystem::path file, std::optional<WriterLock> lock, Database database);
  /// A statement is prepared once and kept.
  Expected<Statement *> statement(const char *sql);
  Expected<std::int64_t> problemId(const std::string &text);
  Expected<std::int64_t> writeResult(const ResultRecord &result);
  Expected<std::vector<RunRecord>> readRuns(Statement &statement);

  std::filesystem::path storeFile;
  std::optional<WriterLock> lock;
  Database database;
  std::map<const char *, Statement> statements;
};

} // namespace kw
