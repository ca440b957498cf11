// Kernelwright
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "experiments/store/Store.h"

#include "experiments/store/Schema.h"
#include "experiments/support/Files.h"
#include "tests/experiments/support/TemporaryFolder.h"

#include <csignal>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sqlite3.h>
#include <sys/wait.h>
#include <unistd.h>

namespace kw {
namespace {

namespace fs = std::filesystem;
using testing::HasSubstr;

RunRecord exampleRun(const std::string &id = "abc123") {
  RunRecord run;
  run.id = id;
  run.problem = "gemm m=1 n=2 k=3";
  run.target = "gfx950";
  run.strategy = "exhaustive";
  run.seed = 18446744073709551615U;
  run.spec = R"({"top":10})";
  return run;
}

TrialRecord exampleTrial(const std::string &schedule, TrialState state = TrialState::ok) {
  return {"abc123", Rung::compiled, schedule, state, "", 1.5};
}

ResultRecord exampleResult(const std::string &key) {
  return {Rung::compiled, key, TrialState::ok, "", {{"vgpr", 128}}, "hash-of-" + key, 1000};
}

void execute(const fs::path &file, const char *sql) {
  sqlite3 *database = nullptr;
  ASSERT_EQ(sqlite3_open(file.c_str(), &database), SQLITE_OK);
  EXPECT_EQ(sqlite3_exec(database, sql, nullptr, nullptr, nullptr), SQLITE_OK);
  sqlite3_close(database);
}

class StoreTest : public testing::Test {
protected:
  Store open(Store::Access access = Store::Access::write) {
    Expected<Store> store = Store::open(file, access);
    EXPECT_TRUE(store) << store.error().message;
    return std::move(*store);
  }
  Error openError(Store::Access access = Store::Access::write) {
    Expected<Store> store = Store::open(file, access);
    EXPECT_FALSE(store);
    return store ? Error{} : store.error();
  }

  TemporaryFolder folder;
  fs::path file = folder / "kw.db";
};

TEST_F(StoreTest, KeepsRunsOverReopening) {
  ASSERT_TRUE(open().beginRun(exampleRun()));
  Store store = open(Store::Access::read);
  const auto run = store.findRun("abc123");
  ASSERT_TRUE(run && *run);
  EXPECT_EQ((*run)->problem, "gemm m=1 n=2 k=3");
  EXPECT_EQ((*run)->seed, 18446744073709551615U);
  EXPECT_EQ((*run)->spec, R"({"top":10})");
  EXPECT_FALSE((*run)->done);
  EXPECT_FALSE((*run)->started.empty());
}

TEST_F(StoreTest, FindsRunsByTheStartOfTheirId) {
  Store store = open();
  ASSERT_TRUE(store.beginRun(exampleRun("abc123")));
  ASSERT_TRUE(store.beginRun(exampleRun("abd456")));
  EXPECT_EQ((*store.findRun("abc"))->id, "abc123");
  for (const char *none : {"x", "", "%"}) {
    const Expected<std::optional<RunRecord>> run = store.findRun(none);
    ASSERT_TRUE(run) << none;
    EXPECT_FALSE(*run) << none;
  }
  EXPECT_FALSE(store.findRun("ab")) << "ambiguous";
}

TEST_F(StoreTest, FinishingAndReopeningARun) {
  Store store = open();
  ASSERT_TRUE(store.beginRun(exampleRun()));
  ASSERT_TRUE(store.finishRun("abc123", R"({"candidates":[]})", 12.5));
  const auto done = store.findRun("abc123");
  EXPECT_TRUE((*done)->done);
  EXPECT_EQ((*done)->seconds, 12.5);
  EXPECT_EQ((*done)->document, R"({"candidates":[]})");
  ASSERT_TRUE(store.beginRun(exampleRun()));
  EXPECT_TRUE((*store.findRun("abc123"))->done) << "beginning again changes nothing";
  ASSERT_TRUE(store.reopenRun("abc123"));
  const auto again = store.findRun("abc123");
  EXPECT_FALSE((*again)->done);
  EXPECT_TRUE((*again)->document.empty());
  EXPECT_EQ((*again)->seconds, 0);
}

TEST_F(StoreTest, KeepsTrialsAndResults) {
  {
    Store store = open();
    ASSERT_TRUE(store.beginRun(exampleRun()));
    ASSERT_TRUE(store.record(exampleTrial("s1"), exampleResult("k1")));
    ASSERT_TRUE(store.record(exampleTrial("s2", TrialState::timeout), std::nullopt));
  }
  Store store = open(Store::Access::read);
  const auto trials = store.trials("abc123");
  ASSERT_TRUE(trials);
  ASSERT_EQ(trials->size(), 2U);
  EXPECT_EQ((*trials)[0].schedule, "s1");
  EXPECT_EQ((*trials)[1].state, TrialState::timeout);
  const auto result = store.findResult(Rung::compiled, "k1");
  ASSERT_TRUE(result && *result);
  EXPECT_EQ((*result)->value["vgpr"], 128);
  EXPECT_EQ((*result)->artifact, "hash-of-k1");
  EXPECT_EQ((*result)->artifactBytes, 1000);
  EXPECT_FALSE(*store.findResult(Rung::validated, "k1")) << "a key belongs to its rung";
  EXPECT_FALSE(*store.findResult(Rung::compiled, "k2"));
  EXPECT_EQ((*store.findRun("abc123"))->seconds, 1.5) << "time spent is known";
}

TEST_F(StoreTest, AResultIsReplacedNotRepeated) {
  Store store = open();
  ASSERT_TRUE(store.beginRun(exampleRun()));
  ASSERT_TRUE(store.record(exampleTrial("s1"), exampleResult("k1")));
  ResultRecord other = exampleResult("k1");
  other.value = {{"vgpr", 64}};
  ASSERT_TRUE(store.record(exampleTrial("s1"), other));
  EXPECT_EQ((*store.findResult(Rung::compiled, "k1"))->value["vgpr"], 64);
  EXPECT_EQ(store.trials("abc123")->size(), 1U);
}

TEST_F(StoreTest, ATrialOfAnUnknownRunIsRefusedWithItsResult) {
  Store store = open();
  EXPECT_FALSE(store.record(exampleTrial("s1"), exampleResult("k1")));
  EXPECT_FALSE(*store.findResult(Rung::compiled, "k1")) << "one transaction";
}

TEST_F(StoreTest, OpensCleanAfterAKillWithAllThatWasRecorded) {
  int progress[2];
  ASSERT_EQ(::pipe(progress), 0);
  const pid_t child = ::fork();
  if (child == 0) { // writes until it is killed, and says after each record that it is written
    Expected<Store> store = Store::open(file, Store::Access::write);
    if (!store || !store->beginRun(exampleRun())) {
      ::_exit(1);
    }
    for (int i = 0;; ++i) {
      const std::string name = std::to_string(i);
      if (!store->record(exampleTrial(name), exampleResult(name)) ||
          ::write(progress[1], "x", 1) != 1) {
        ::_exit(1);
      }
    }
  }
  ::close(progress[1]);
  int told = 0;
  char mark = 0;
  while (told < 25 && ::read(progress[0], &mark, 1) == 1) {
    ++told;
  }
  ::kill(child, SIGKILL);
  int status = 0;
  ::waitpid(child, &status, 0);
  ASSERT_TRUE(WIFSIGNALED(status));
  while (::read(progress[0], &mark, 1) == 1) {
    ++told;
  }
  ::close(progress[0]);
  Store store = open();
  const auto trials = store.trials("abc123");
  ASSERT_TRUE(trials);
  EXPECT_GE(trials->size(), static_cast<std::size_t>(told));
  EXPECT_LE(trials->size(), static_cast<std::size_t>(told) + 1);
  for (const TrialRecord &trial : *trials) {
    EXPECT_TRUE(*store.findResult(Rung::compiled, trial.schedule)) << trial.schedule;
  }
}

TEST_F(StoreTest, ASecondWriterIsToldWhoHoldsIt) {
  Store first = open();
  const Error error = openError();
  EXPECT_EQ(error.kind, Error::Kind::failed);
  EXPECT_THAT(error.message, HasSubstr("process " + std::to_string(::getpid())));
  EXPECT_EQ(error.message.find('\n'), std::string::npos);
}

TEST_F(StoreTest, ReadersDoNotWaitForTheWriter) {
  Store writer = open();
  ASSERT_TRUE(writer.beginRun(exampleRun()));
  EXPECT_TRUE(*open(Store::Access::read).findRun("abc123"));
}

TEST_F(StoreTest, TheLockGoesWithItsHolder) {
  {
    Store first = open();
  }
  open();
}

TEST_F(StoreTest, AReaderNeedsAStore) {
  const Error error = openError(Store::Access::read);
  EXPECT_EQ(error.kind, Error::Kind::badInput);
  EXPECT_THAT(error.message, HasSubstr("there is no store"));
  EXPECT_FALSE(fs::exists(file));
}

TEST_F(StoreTest, AFileThatIsNoDatabaseIsBadInputAndStaysAsItIs) {
  const std::string text(5000, 'x');
  ASSERT_TRUE(writeFile(file, text));
  for (const Store::Access access : {Store::Access::write, Store::Access::read}) {
    const Error error = openError(access);
    EXPECT_EQ(error.kind, Error::Kind::badInput);
    EXPECT_THAT(error.message, HasSubstr("not a database"));
  }
  EXPECT_EQ(*readText(file), text);
}

TEST_F(StoreTest, AnotherProgramsDatabaseIsBadInputAndStaysAsItIs) {
  execute(file, "CREATE TABLE customers (name TEXT)");
  const Expected<std::string> before = readText(file);
  const Error error = openError();
  EXPECT_EQ(error.kind, Error::Kind::badInput);
  EXPECT_THAT(error.message, HasSubstr("another program"));
  EXPECT_EQ(*readText(file), *before);
}

TEST_F(StoreTest, AnotherVersionsStoreIsBadInput) {
  open();
  execute(file, "PRAGMA user_version = 7");
  const Error error = openError();
  EXPECT_EQ(error.kind, Error::Kind::badInput);
  EXPECT_THAT(error.message, HasSubstr("version 7"));
  EXPECT_THAT(error.message, HasSubstr(std::to_string(storeSchemaVersion)));
}

TEST_F(StoreTest, ATruncatedStoreIsAnError) {
  {
    Store store = open();
    ASSERT_TRUE(store.beginRun(exampleRun()));
  }
  fs::resize_file(file, 4096);
  fs::remove(file.string() + "-wal");
  Expected<Store> store = Store::open(file, Store::Access::write);
  EXPECT_FALSE(store && store->runs() && store->findResult(Rung::compiled, "k"));
}

TEST_F(StoreTest, AFolderIsNoStore) {
  fs::create_directory(file);
  EXPECT_THAT(openError().message, HasSubstr("is a folder"));
}

TEST_F(StoreTest, WritersMakeTheFolder) {
  file = folder / "new/folder/kw.db";
  open();
  EXPECT_TRUE(fs::exists(file));
}

TEST_F(StoreTest, APlaceThatCannotBeWrittenIsBadInput) {
  ASSERT_TRUE(writeFile(folder / "file", std::string_view("x")));
  file = folder / "file/kw.db";
  EXPECT_EQ(openError().kind, Error::Kind::badInput);
}

} // namespace
} // namespace kw
