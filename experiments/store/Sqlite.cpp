// Kernelwright
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "experiments/store/Sqlite.h"

#include <cassert>
#include <fmt/format.h>
#include <sqlite3.h>

namespace kw {

namespace {

/// One line. What is no database or may not be opened is the user's input; a full disk or damage is
/// not.
tl::unexpected<Error> sqliteError(sqlite3 *database) {
  const int code = sqlite3_errcode(database) & 0xff;
  const char *file = sqlite3_db_filename(database, "main");
  std::string message =
      fmt::format("{}: {}", file == nullptr ? "store" : file, sqlite3_errmsg(database));
  if (code == SQLITE_NOTADB) {
    message += "; --db names a store that kw made, or a file that is not there yet";
  }
  const bool input = code == SQLITE_NOTADB || code == SQLITE_CANTOPEN || code == SQLITE_READONLY ||
                     code == SQLITE_PERM;
  return tl::unexpected<Error>(
      Error{input ? Error::Kind::badInput : Error::Kind::failed, std::move(message)});
}

} // namespace

void Statement::Finalize::operator()(sqlite3_stmt *statement) const { sqlite3_finalize(statement); }

Statement &Statement::bind(int position, std::string_view text) {
  sqlite3_bind_text64(handle.get(), position, text.data(), text.size(), SQLITE_TRANSIENT,
                      SQLITE_UTF8);
  return *this;
}

Statement &Statement::bind(int position, std::int64_t value) {
  sqlite3_bind_int64(handle.get(), position, value);
  return *this;
}

Statement &Statement::bind(int position, double value) {
  sqlite3_bind_double(handle.get(), position, value);
  return *this;
}

Statement &Statement::bindNull(int position) {
  sqlite3_bind_null(handle.get(), position);
  return *this;
}

Expected<bool> Statement::step() {
  const int code = sqlite3_step(handle.get());
  if (code == SQLITE_ROW || code == SQLITE_DONE) {
    return code == SQLITE_ROW;
  }
  const auto error = sqliteError(sqlite3_db_handle(handle.get()));
  reset();
  return error;
}

Expected<void> Statement::run() {
  const Expected<bool> stepped = step();
  if (!stepped) {
    return tl::unexpected(stepped.error());
  }
  reset();
  return {};
}

void Statement::reset() {
  sqlite3_reset(handle.get());
  sqlite3_clear_bindings(handle.get());
}

std::string Statement::text(int column) const {
  const auto *bytes = reinterpret_cast<const char *>(sqlite3_column_text(handle.get(), column));
  const int count = sqlite3_column_bytes(handle.get(), column);
  return bytes == nullptr ? std::string() : std::string(bytes, static_cast<std::size_t>(count));
}

std::int64_t Statement::integer(int column) const {
  return sqlite3_column_int64(handle.get(), column);
}

double Statement::real(int column) const { return sqlite3_column_double(handle.get(), column); }

bool Statement::isNull(int column) const {
  return sqlite3_column_type(handle.get(), column) == SQLITE_NULL;
}

void Database::Close::operator()(sqlite3 *database) const { sqlite3_close_v2(database); }

Expected<Database> Database::open(const std::string &file, bool write) {
  Database database;
  sqlite3 *raw = nullptr;
  const int flags = write ? SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE : SQLITE_OPEN_READONLY;
  const int code = sqlite3_open_v2(file.c_str(), &raw, flags, nullptr);
  database.handle.reset(raw);
  if (code != SQLITE_OK) {
    return badInput(fmt::format("{}: {}", file, sqlite3_errmsg(raw)));
  }
  sqlite3_busy_timeout(raw, 10'000); // a reader's short lock is waited for
  return database;
}

Expected<void> Database::execute(const char *sql) {
  if (sqlite3_exec(handle.get(), sql, nullptr, nullptr, nullptr) != SQLITE_OK) {
    return sqliteError(handle.get());
  }
  return {};
}

Expected<Statement> Database::prepare(std::string_view sql) const {
  sqlite3_stmt *raw = nullptr;
  const int code = sqlite3_prepare_v3(handle.get(), sql.data(), static_cast<int>(sql.size()),
                                      SQLITE_PREPARE_PERSISTENT, &raw, nullptr);
  Statement statement;
  statement.handle.reset(raw);
  if (code != SQLITE_OK) {
    return sqliteError(handle.get());
  }
  return statement;
}

Expected<std::int64_t> Database::integer(std::string_view sql) const {
  Expected<Statement> statement = prepare(sql);
  if (!statement) {
    return tl::unexpected(statement.error());
  }
  const Expected<bool> row = statement->step();
  if (!row) {
    return tl::unexpected(row.error());
  }
  assert(*row && "a query for one integer has a row");
  return statement->integer(0);
}

Expected<Transaction> Transaction::begin(Database &database) {
  if (Expected<void> begun = database.execute("BEGIN IMMEDIATE"); !begun) {
    return tl::unexpected(begun.error());
  }
  return Transaction(database);
}

Transaction::~Transaction() {
  if (database != nullptr) {
    // Nothing is lost by ignoring a failure: what is not committed is rolled back on opening.
    (void)database->execute("ROLLBACK");
  }
}

Expected<void> Transaction::commit() {
  Expected<void> committed = database->execute("COMMIT");
  if (committed) {
    database = nullptr;
  }
  return committed;
}

} // namespace kw
