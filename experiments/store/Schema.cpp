// Kernelwright
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "experiments/store/Schema.h"

#include <fmt/format.h>

namespace kw {

namespace {

constexpr const char *tables = R"sql(
CREATE TABLE problem (
  id     INTEGER PRIMARY KEY,
  text   TEXT NOT NULL UNIQUE,
  family TEXT NOT NULL
) STRICT;

CREATE TABLE device (
  id     INTEGER PRIMARY KEY,
  name   TEXT NOT NULL UNIQUE,
  detail TEXT NOT NULL DEFAULT '{}'
) STRICT;

CREATE TABLE artifact (
  hash    TEXT PRIMARY KEY,
  bytes   INTEGER NOT NULL,
  created TEXT NOT NULL
) STRICT;

CREATE TABLE result (
  id       INTEGER PRIMARY KEY,
  rung     TEXT NOT NULL,
  key      TEXT NOT NULL,
  state    TEXT NOT NULL,
  error    TEXT,
  value    TEXT NOT NULL,
  artifact TEXT REFERENCES artifact (hash),
  device   INTEGER REFERENCES device (id),
  origin   TEXT NOT NULL DEFAULT 'kw',
  created  TEXT NOT NULL,
  UNIQUE (rung, key)
) STRICT;

CREATE TABLE run (
  id       TEXT PRIMARY KEY,
  problem  INTEGER NOT NULL REFERENCES problem (id),
  target   TEXT NOT NULL,
  seed     TEXT NOT NULL,
  strategy TEXT NOT NULL,
  spec     TEXT NOT NULL,
  state    TEXT NOT NULL CHECK (state IN ('running', 'done')),
  started  TEXT NOT NULL,
  finished TEXT,
  seconds  REAL NOT NULL DEFAULT 0,
  document TEXT
) STRICT;

CREATE TABLE trial (
  id       INTEGER PRIMARY KEY,
  run      TEXT NOT NULL REFERENCES run (id),
  rung     TEXT NOT NULL,
  schedule TEXT NOT NULL,
  state    TEXT NOT NULL,
  error    TEXT,
  result   INTEGER REFERENCES result (id),
  seconds  REAL NOT NULL,
  created  TEXT NOT NULL,
  UNIQUE (run, rung, schedule)
) STRICT;
)sql";

Expected<void> makeTables(Database &database) {
  Expected<Transaction> transaction = Transaction::begin(database);
  if (!transaction) {
    return tl::unexpected(transaction.error());
  }
  const std::string marks = fmt::format("PRAGMA application_id = {}; PRAGMA user_version = {};",
                                        storeApplicationId, storeSchemaVersion);
  for (const char *sql : {tables, marks.c_str()}) {
    if (Expected<void> done = database.execute(sql); !done) {
      return done;
    }
  }
  return transaction->commit();
}

} // namespace

Expected<void> prepareSchema(Database &database, const std::string &file, bool write) {
  const Expected<std::int64_t> application = database.integer("PRAGMA application_id");
  if (!application) {
    return tl::unexpected(application.error());
  }
  const Expected<std::int64_t> version = database.integer("PRAGMA user_version");
  const Expected<std::int64_t> objects = database.integer("SELECT count(*) FROM sqlite_schema");
  for (const Expected<std::int64_t> *value : {&version, &objects}) {
    if (!*value) {
      return tl::unexpected(value->error());
    }
  }
  if (*application == 0 && *version == 0 && *objects == 0) {
    if (write) {
      return makeTables(database);
    }
    return badInput(fmt::format("{}: is empty, no store yet; `kw tune` makes one", file));
  }
  if (*application != storeApplicationId) {
    return badInput(fmt::format("{}: is a database of another program, not a store of kw", file));
  }
  if (*version != storeSchemaVersion) {
    return badInput(fmt::format("{}: is a store of version {}, this kw reads version {}; name "
                                "another with --db",
                                file, *version, storeSchemaVersion));
  }
  return {};
}

} // namespace kw
