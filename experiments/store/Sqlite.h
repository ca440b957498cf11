// Kernelwright
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// SQLite without its boilerplate: a connection and a prepared statement that close themselves.
#pragma once

#include "ir/support/Expected.h"

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

struct sqlite3;
struct sqlite3_stmt;

namespace kw {

class Statement {
public:
  Statement() = default;

  /// Positions count from 1.
  Statement &bind(int position, std::string_view text);
  Statement &bind(int position, std::int64_t value);
  Statement &bind(int position, double value);
  Statement &bindNull(int position);

  /// True: a row is there to be read.
  Expected<bool> step();
  /// step() for a statement without rows, then reset().
  Expected<void> run();
  /// Ready for other values.
  void reset();

  /// Columns count from 0.
  std::string text(int column) const;
  std::int64_t integer(int column) const;
  double real(int column) const;
  bool isNull(int column) const;

private:
  friend class Database;
  struct Finalize {
    void operator()(sqlite3_stmt *statement) const;
  };
  std::unique_ptr<sqlite3_stmt, Finalize> handle;
};

class Database {
public:
  /// `file` is in all errors. Writers create it.
  static Expected<Database> open(const std::string &file, bool write);

  Expected<void> execute(const char *sql);
  Expected<Statement> prepare(std::string_view sql) const;
  /// One integer of a pragma or query without parameters.
  Expected<std::int64_t> integer(std::string_view sql) const;

private:
  struct Close {
    void operator()(sqlite3 *database) const;
  };
  std::unique_ptr<sqlite3, Close> handle;
};

/// Begins at once with the write lock; rolls back unless committed.
class Transaction {
public:
  static Expected<Transaction> begin(Database &database);
  Transaction(Transaction &&other) noexcept : database(std::exchange(other.database, nullptr)) {}
  Transaction &operator=(Transaction &&) = delete;
  ~Transaction();
  Expected<void> commit();

private:
  explicit Transaction(Database &database) : database(&database) {}
  Database *database;
};

} // namespace kw
