// Kernelwright
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "experiments/store/Store.h"

#include "experiments/store/Schema.h"
#include "experiments/support/Files.h"
#include "experiments/support/FirstError.h"
#include "experiments/trials/TrialMessage.h"

#include <ctime>
#include <fmt/chrono.h>
#include <fmt/format.h>

namespace kw {

namespace fs = std::filesystem;

std::string nowUtc() {
  return fmt::format("{:%Y-%m-%dT%H:%M:%SZ}", fmt::gmtime(std::time(nullptr)));
}

namespace {

void bindOptional(Statement &statement, int position, const std::string &text) {
  if (text.empty()) {
    statement.bindNull(position);
  } else {
    statement.bind(position, text);
  }
}

// One home for each statement: its address is its key in `Store::statements`.
namespace sql {
constexpr const char *addProblem =
    "INSERT INTO problem (text, family) VALUES (?1, ?2) ON CONFLICT (text) DO NOTHING";
constexpr const char *problemByText = "SELECT id FROM problem WHERE text = ?1";
constexpr const char *addRun =
    "INSERT INTO run (id, problem, target, seed, strategy, spec, state, started) "
    "VALUES (?1, ?2, ?3, ?4, ?5, ?6, 'running', ?7) ON CONFLICT (id) DO NOTHING";
constexpr const char *finishRun = "UPDATE run SET state = 'done', finished = ?2, document = ?3, "
                                  "seconds = ?4 WHERE id = ?1";
constexpr const char *reopenRun =
    "UPDATE run SET seconds = CASE state WHEN 'done' THEN 0 ELSE seconds END, "
    "state = 'running', finished = NULL, document = NULL WHERE id = ?1";
constexpr const char *spendTime = "UPDATE run SET seconds = max(seconds, ?2) WHERE id = ?1";
#define KW_RUN_COLUMNS                                                                             \
  "SELECT run.id, problem.text, target, seed, strategy, spec, state, started, finished, seconds, " \
  "document FROM run JOIN problem ON problem.id = run.problem "
constexpr const char *runsByStart = KW_RUN_COLUMNS "WHERE substr(run.id, 1, length(?1)) = ?1";
constexpr const char *allRuns = KW_RUN_COLUMNS "ORDER BY started DESC, run.rowid DESC";
#undef KW_RUN_COLUMNS
constexpr const char *resultByKey =
    "SELECT state, error, value, artifact.hash, artifact.bytes FROM result "
    "LEFT JOIN artifact ON artifact.hash = result.artifact WHERE rung = ?1 AND key = ?2";
constexpr const char *addArtifact = "INSERT INTO artifact (hash, bytes, created) "
                                    "VALUES (?1, ?2, ?3) ON CONFLICT (hash) DO NOTHING";
constexpr const char *addResult =
    "INSERT INTO result (rung, key, state, error, value, artifact, created) "
    "VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7) ON CONFLICT (rung, key) DO UPDATE SET state = ?3, "
    "error = ?4, value = ?5, artifact = ?6, created = ?7 RETURNING id";
constexpr const char *addDevice =
    "INSERT INTO device (name, detail) VALUES (?1, ?2) ON CONFLICT (name) DO UPDATE SET "
    "detail = ?2 RETURNING id";
constexpr const char *setDevice = "UPDATE result SET device = ?2 WHERE id = ?1";
constexpr const char *addImported =
    "INSERT INTO result (rung, key, state, value, origin, created) "
    "VALUES ('imported', ?1, 'ok', ?2, ?3, ?4) ON CONFLICT (rung, key) DO NOTHING RETURNING id";
constexpr const char *timings =
    "SELECT rung, device.name, value FROM result LEFT JOIN device ON device.id = result.device "
    "WHERE rung IN ('measured', 'imported') AND state = 'ok' ORDER BY created, result.id";
constexpr const char *addTrial =
    "INSERT INTO trial (run, rung, schedule, state, error, result, seconds, created) "
    "VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8) ON CONFLICT (run, rung, schedule) DO UPDATE SET "
    "state = ?4, error = ?5, result = ?6, created = ?8";
constexpr const char *trialsOfRun =
    "SELECT rung, schedule, state, error, seconds FROM trial WHERE run = ?1 ORDER BY id";
} // namespace sql

} // namespace

Store::Store(fs::path file, std::optional<WriterLock> lock, Database database)
    : storeFile(std::move(file)), lock(std::move(lock)), database(std::move(database)) {}

Expected<Store> Store::open(const fs::path &file, Access access) {
  const fs::path path = absolutePath(file);
  const bool write = access == Access::write;
  std::error_code code;
  if (fs::is_directory(path, code)) {
    return badInput(fmt::format("{}: is a folder, not a store", path.string()));
  }
  if (!write && !fs::exists(path, code)) {
    return badInput(fmt::format("{}: there is no store; `kw tune` makes one, --db names another",
                                path.string()));
  }
  std::optional<WriterLock> lock;
  if (write) {
    if (Expected<void> made = makeWritableFolder(path.parent_path()); !made) {
      return tl::unexpected(made.error());
    }
    Expected<WriterLock> taken = WriterLock::take(path);
    if (!taken) {
      return tl::unexpected(taken.error());
    }
    lock.emplace(std::move(*taken));
  }
  Expected<Database> database = Database::open(path.string(), write);
  if (!database) {
    return tl::unexpected(database.error());
  }
  if (Expected<void> prepared = prepareSchema(*database, path.string(), write); !prepared) {
    return tl::unexpected(prepared.error());
  }
  // FULL: a committed trial survives a power cut too; an fsync is nothing beside a compilation.
  const char *mode = write ? "PRAGMA journal_mode = WAL; PRAGMA synchronous = FULL; "
                             "PRAGMA foreign_keys = ON;"
                           : "PRAGMA query_only = ON;";
  if (Expected<void> set = database->execute(mode); !set) {
    return tl::unexpected(set.error());
  }
  return Store(path, std::move(lock), std::move(*database));
}

fs::path Store::artifactFolder() const { return storeFile.string() + ".files"; }

fs::path Store::artifactFile(const std::string &hash) const {
  return artifactFolder() / (hash + ".hsaco");
}

Expected<Statement *> Store::statement(const char *sql) {
  auto found = statements.find(sql);
  if (found == statements.end()) {
    Expected<Statement> prepared = database.prepare(sql);
    if (!prepared) {
      return tl::unexpected(prepared.error());
    }
    found = statements.emplace(sql, std::move(*prepared)).first;
  }
  found->second.reset();
  return &found->second;
}

Expected<std::int64_t> Store::problemId(const std::string &text) {
  const Expected<Statement *> add = statement(sql::addProblem);
  if (!add) {
    return tl::unexpected(add.error());
  }
  const std::string family = text.substr(0, text.find(' '));
  if (Expected<void> added = (*add)->bind(1, text).bind(2, family).run(); !added) {
    return tl::unexpected(added.error());
  }
  const Expected<Statement *> find = statement(sql::problemByText);
  if (!find) {
    return tl::unexpected(find.error());
  }
  if (const Expected<bool> row = (*find)->bind(1, text).step(); !row) {
    return tl::unexpected(row.error());
  }
  const std::int64_t id = (*find)->integer(0);
  (*find)->reset();
  return id;
}

Expected<void> Store::beginRun(const RunRecord &run) {
  Expected<Transaction> transaction = Transaction::begin(database);
  if (!transaction) {
    return tl::unexpected(transaction.error());
  }
  const Expected<std::int64_t> problem = problemId(run.problem);
  if (!problem) {
    return tl::unexpected(problem.error());
  }
  const Expected<Statement *> add = statement(sql::addRun);
  if (!add) {
    return tl::unexpected(add.error());
  }
  (*add)->bind(1, run.id).bind(2, *problem).bind(3, run.target);
  (*add)->bind(4, std::to_string(run.seed)).bind(5, run.strategy).bind(6, run.spec);
  if (Expected<void> added = (*add)->bind(7, nowUtc()).run(); !added) {
    return added;
  }
  return transaction->commit();
}

Expected<void> Store::finishRun(const std::string &id, const std::string &document,
                                double seconds) {
  const Expected<Statement *> update = statement(sql::finishRun);
  if (!update) {
    return tl::unexpected(update.error());
  }
  return (*update)->bind(1, id).bind(2, nowUtc()).bind(3, document).bind(4, seconds).run();
}

Expected<void> Store::reopenRun(const std::string &id) {
  const Expected<Statement *> update = statement(sql::reopenRun);
  if (!update) {
    return tl::unexpected(update.error());
  }
  return (*update)->bind(1, id).run();
}

namespace {

/// What `read` makes of each row, to the last.
template <typename Record, typename Read>
Expected<std::vector<Record>> collect(Statement &rows, Read read) {
  std::vector<Record> list;
  while (true) {
    const Expected<bool> row = rows.step();
    if (!row) {
      return tl::unexpected(row.error());
    }
    if (!*row) {
      rows.reset();
      return list;
    }
    list.push_back(read());
  }
}

} // namespace

Expected<std::vector<RunRecord>> Store::readRuns(Statement &rows) {
  return collect<RunRecord>(rows, [&rows] {
    RunRecord run;
    run.id = rows.text(0);
    run.problem = rows.text(1);
    run.target = rows.text(2);
    run.seed = std::strtoull(rows.text(3).c_str(), nullptr, 10);
    run.strategy = rows.text(4);
    run.spec = rows.text(5);
    run.done = rows.text(6) == "done";
    run.started = rows.text(7);
    run.finished = rows.text(8);
    run.seconds = rows.real(9);
    run.document = rows.text(10);
    return run;
  });
}

Expected<std::optional<RunRecord>> Store::findRun(const std::string &idOrStart) {
  if (idOrStart.empty()) { // the start of every id
    return std::nullopt;
  }
  const Expected<Statement *> find = statement(sql::runsByStart);
  if (!find) {
    return tl::unexpected(find.error());
  }
  (*find)->bind(1, idOrStart);
  Expected<std::vector<RunRecord>> found = readRuns(**find);
  if (!found) {
    return tl::unexpected(found.error());
  }
  if (found->size() > 1) {
    return badInput(
        fmt::format("run {}: {} runs begin so, give more of the id", idOrStart, found->size()));
  }
  if (found->empty()) {
    return std::nullopt;
  }
  return std::move(found->front());
}

Expected<std::vector<RunRecord>> Store::runs() {
  const Expected<Statement *> all = statement(sql::allRuns);
  if (!all) {
    return tl::unexpected(all.error());
  }
  return readRuns(**all);
}

Expected<std::optional<ResultRecord>> Store::findResult(Rung rung, const std::string &key) {
  const Expected<Statement *> find = statement(sql::resultByKey);
  if (!find) {
    return tl::unexpected(find.error());
  }
  Statement &row = **find;
  const Expected<bool> found = row.bind(1, name(rung)).bind(2, key).step();
  if (!found) {
    return tl::unexpected(found.error());
  }
  if (!*found) {
    return std::nullopt;
  }
  ResultRecord result;
  result.rung = rung;
  result.key = key;
  result.state = parseTrialState(row.text(0)).value_or(TrialState::failed);
  result.error = row.text(1);
  result.value = Json::parse(row.text(2), nullptr, false);
  result.artifact = row.text(3);
  result.artifactBytes = row.integer(4);
  row.reset();
  return result;
}

Expected<std::int64_t> Store::writeResult(const ResultRecord &result) {
  if (!result.artifact.empty()) {
    const Expected<Statement *> add = statement(sql::addArtifact);
    if (!add) {
      return tl::unexpected(add.error());
    }
    (*add)->bind(1, result.artifact).bind(2, result.artifactBytes).bind(3, nowUtc());
    if (Expected<void> added = (*add)->run(); !added) {
      return tl::unexpected(added.error());
    }
  }
  const Expected<Statement *> add = statement(sql::addResult);
  if (!add) {
    return tl::unexpected(add.error());
  }
  Statement &row = **add;
  row.bind(1, name(result.rung)).bind(2, result.key).bind(3, name(result.state));
  bindOptional(row, 4, result.error);
  row.bind(5, printJson(result.value));
  bindOptional(row, 6, result.artifact);
  if (const Expected<bool> stepped = row.bind(7, nowUtc()).step(); !stepped) {
    return tl::unexpected(stepped.error());
  }
  const std::int64_t id = row.integer(0);
  row.reset();
  return id;
}

Expected<void> Store::keep(const ResultRecord &result, const std::string &device,
                           const Json &detail) {
  Expected<Transaction> transaction = Transaction::begin(database);
  if (!transaction) {
    return tl::unexpected(transaction.error());
  }
  const Expected<std::int64_t> written = writeResult(result);
  const Expected<Statement *> add = statement(sql::addDevice);
  const Expected<Statement *> set = statement(sql::setDevice);
  if (const Error *error = firstError(written, add, set)) {
    return tl::unexpected(*error);
  }
  if (const Expected<bool> row = (*add)->bind(1, device).bind(2, printJson(detail)).step(); !row) {
    return tl::unexpected(row.error());
  }
  const std::int64_t id = (*add)->integer(0);
  (*add)->reset();
  if (Expected<void> done = (*set)->bind(1, *written).bind(2, id).run(); !done) {
    return done;
  }
  return transaction->commit();
}

Expected<std::size_t> Store::import(std::span<const ImportedTiming> timings) {
  Expected<Transaction> transaction = Transaction::begin(database);
  if (!transaction) {
    return tl::unexpected(transaction.error());
  }
  const Expected<Statement *> add = statement(sql::addImported);
  if (!add) {
    return tl::unexpected(add.error());
  }
  const std::string now = nowUtc();
  std::size_t stored = 0;
  for (const ImportedTiming &timing : timings) {
    Statement &row = **add;
    row.bind(1, timing.key).bind(2, printJson(timing.value)).bind(3, timing.origin).bind(4, now);
    const Expected<bool> isNew = row.step();
    if (!isNew) {
      return tl::unexpected(isNew.error());
    }
    stored += *isNew ? 1 : 0;
    row.reset();
  }
  if (Expected<void> done = transaction->commit(); !done) {
    return tl::unexpected(done.error());
  }
  return stored;
}

Expected<void> Store::record(const TrialRecord &trial, const std::optional<ResultRecord> &result) {
  Expected<Transaction> transaction = Transaction::begin(database);
  if (!transaction) {
    return tl::unexpected(transaction.error());
  }
  std::optional<std::int64_t> resultId;
  if (result) {
    const Expected<std::int64_t> written = writeResult(*result);
    if (!written) {
      return tl::unexpected(written.error());
    }
    resultId = *written;
  }
  const Expected<Statement *> add = statement(sql::addTrial);
  const Expected<Statement *> spend = statement(sql::spendTime);
  for (const Expected<Statement *> *prepared : {&add, &spend}) {
    if (!*prepared) {
      return tl::unexpected(prepared->error());
    }
  }
  Statement &row = **add;
  row.bind(1, trial.run).bind(2, name(trial.rung)).bind(3, trial.schedule);
  row.bind(4, name(trial.state));
  bindOptional(row, 5, trial.error);
  if (resultId) {
    row.bind(6, *resultId);
  } else {
    row.bindNull(6);
  }
  if (Expected<void> added = row.bind(7, trial.seconds).bind(8, nowUtc()).run(); !added) {
    return added;
  }
  if (Expected<void> spent = (*spend)->bind(1, trial.run).bind(2, trial.seconds).run(); !spent) {
    return spent;
  }
  return transaction->commit();
}

Expected<std::vector<StoredTiming>> Store::timings() {
  const Expected<Statement *> find = statement(sql::timings);
  if (!find) {
    return tl::unexpected(find.error());
  }
  Statement &row = **find;
  return collect<StoredTiming>(row, [&row] {
    return StoredTiming{row.text(0) == name(Rung::measured), row.text(1),
                        Json::parse(row.text(2), nullptr, false)};
  });
}

Expected<std::vector<TrialRecord>> Store::trials(const std::string &run) {
  const Expected<Statement *> find = statement(sql::trialsOfRun);
  if (!find) {
    return tl::unexpected(find.error());
  }
  Statement &row = **find;
  row.bind(1, run);
  return collect<TrialRecord>(row, [&row, &run] {
    TrialRecord trial;
    trial.run = run;
    trial.rung = parseRung(row.text(0)).value_or(Rung::compiled);
    trial.schedule = row.text(1);
    trial.state = parseTrialState(row.text(2)).value_or(TrialState::failed);
    trial.error = row.text(3);
    trial.seconds = row.real(4);
    return trial;
  });
}

} // namespace kw
