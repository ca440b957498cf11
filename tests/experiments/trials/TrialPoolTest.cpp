// Kernelwright
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The pool against a program that crashes, hangs, talks nonsense and eats memory on request.
#include "experiments/trials/TrialPool.h"

#include "experiments/support/Files.h"
#include "tests/experiments/support/TemporaryFolder.h"

#include <csignal>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <set>
#include <thread>

namespace kw {
namespace {

using testing::HasSubstr;

class TrialPoolTest : public testing::Test {
protected:
  void SetUp() override { std::signal(SIGPIPE, SIG_IGN); }

  static TrialRequest request(const std::string &action) {
    TrialRequest request;
    request.id = "\"" + action + "\"";
    request.problem = "p";
    request.schedule = action;
    request.rungs = {Rung::compiled};
    request.limits.seconds = 20;
    return request;
  }

  TrialPool pool(int jobs = 1) {
    return TrialPool(
        {{"/usr/bin/python3", KW_SOURCE_DIR "/tests/experiments/trials/fake_trial.py"}, jobs});
  }

  /// Answers in the order of the requests.
  std::vector<TrialAnswer> answers(TrialPool &pool, const std::vector<TrialRequest> &requests) {
    std::vector<TrialAnswer> list(requests.size());
    std::set<std::size_t> told;
    const Expected<bool> ran =
        pool.run(requests, [&](std::size_t i, const TrialAnswer &answer) -> Expected<void> {
          list[i] = answer;
          EXPECT_TRUE(told.insert(i).second) << "told twice: " << i;
          return {};
        });
    EXPECT_TRUE(ran && *ran);
    EXPECT_EQ(told.size(), requests.size());
    return list;
  }

  std::vector<TrialAnswer> answers(const std::vector<std::string> &actions, int jobs = 1) {
    std::vector<TrialRequest> requests;
    for (const std::string &action : actions) {
      requests.push_back(request(action));
    }
    TrialPool own = pool(jobs);
    return answers(own, requests);
  }
};

TEST_F(TrialPoolTest, AnswersEveryRequest) {
  const std::vector<std::string> actions(7, "ok");
  std::set<int> processes;
  for (const TrialAnswer &answer : answers(actions, 2)) {
    EXPECT_EQ(answer.state, TrialState::ok);
    EXPECT_EQ(answer.id, "\"ok\"");
    processes.insert(answer.rungs["pid"].get<int>());
  }
  EXPECT_LE(processes.size(), 2U) << "processes stay warm";
}

TEST_F(TrialPoolTest, ACrashCostsItsTrialAndSaysHow) {
  const std::vector<TrialAnswer> list = answers({"ok", "crash", "ok"});
  EXPECT_EQ(list[0].state, TrialState::ok);
  EXPECT_EQ(list[1].state, TrialState::crashed);
  EXPECT_THAT(list[1].error, HasSubstr("signal 11"));
  EXPECT_THAT(list[1].error, HasSubstr("something broke badly"));
  EXPECT_EQ(list[2].state, TrialState::ok);
  EXPECT_NE(list[0].rungs["pid"], list[2].rungs["pid"]) << "the process was replaced";
}

TEST_F(TrialPoolTest, AnEarlyEndIsACrash) {
  const std::vector<TrialAnswer> list = answers({"exit", "ok"});
  EXPECT_EQ(list[0].state, TrialState::crashed);
  EXPECT_THAT(list[0].error, HasSubstr("status 3"));
  EXPECT_EQ(list[1].state, TrialState::ok);
}

TEST_F(TrialPoolTest, AClosedOutputIsACrash) {
  EXPECT_EQ(answers({"close-output"})[0].state, TrialState::crashed);
}

TEST_F(TrialPoolTest, AHangEndsAtItsLimit) {
  TrialRequest hang = request("hang");
  hang.limits.seconds = 0.3;
  TrialPool own = pool();
  const std::vector<TrialAnswer> list = answers(own, {hang, request("ok")});
  EXPECT_EQ(list[0].state, TrialState::timeout);
  EXPECT_EQ(list[0].error, "no answer within 0.3 s");
  EXPECT_EQ(list[1].state, TrialState::ok);
}

TEST_F(TrialPoolTest, TheChildrenOfAHangEndWithIt) {
  const TemporaryFolder folder;
  TrialRequest hang = request("hang-with-child");
  hang.problem = (folder / "pid").string();
  hang.limits.seconds = 1.5;
  TrialPool own = pool();
  EXPECT_EQ(answers(own, {hang})[0].state, TrialState::timeout);
  const Expected<std::string> pid = readText(hang.problem);
  ASSERT_TRUE(pid);
  // Killed, it is gone as soon as somebody reaps it: in a container nobody may, so a zombie counts.
  std::string state = "gone";
  for (int i = 0; i < 100; ++i) {
    const Expected<std::string> status = readText("/proc/" + *pid + "/stat");
    if (!status) {
      state = "gone";
      break;
    }
    state = status->substr(status->rfind(')') + 2, 1);
    if (state == "Z") {
      break;
    }
    std::this_thread::sleep_for(std::chrono::milliseconds(20));
  }
  EXPECT_TRUE(state == "gone" || state == "Z") << state;
}

TEST_F(TrialPoolTest, NonsenseIsACrash) {
  const std::vector<TrialAnswer> list = answers({"garbage", "other-id", "ok"});
  EXPECT_EQ(list[0].state, TrialState::crashed);
  EXPECT_THAT(list[0].error, HasSubstr("this is no answer"));
  EXPECT_EQ(list[1].state, TrialState::crashed);
  EXPECT_EQ(list[2].state, TrialState::ok);
}

TEST_F(TrialPoolTest, AFailedCompilationGetsANewProcess) {
  const std::vector<TrialAnswer> list = answers({"ok", "fail", "ok"});
  EXPECT_EQ(list[0].rungs["pid"], list[1].rungs["pid"]);
  EXPECT_EQ(list[1].state, TrialState::compileFailed);
  EXPECT_NE(list[1].rungs["pid"], list[2].rungs["pid"]);
}

TEST_F(TrialPoolTest, AProcessThatEndedWhileIdleIsReplaced) {
  TrialPool own = pool();
  EXPECT_EQ(answers(own, {request("ok-then-exit")})[0].state, TrialState::ok);
  std::this_thread::sleep_for(std::chrono::milliseconds(300));
  EXPECT_EQ(answers(own, {request("ok")})[0].state, TrialState::ok);
}

#ifndef __SANITIZE_ADDRESS__
TEST_F(TrialPoolTest, MemoryIsLimited) {
  TrialRequest hungry = request("memory");
  hungry.limits.memoryMb = 1024;
  TrialPool own = pool();
  const std::vector<TrialAnswer> list = answers(own, {hungry});
  EXPECT_EQ(list[0].state, TrialState::failed);
  EXPECT_EQ(list[0].error, "out of memory");
}
#endif

TEST_F(TrialPoolTest, AStopLosesOnlyWhatIsInFlight) {
  std::atomic<bool> stop = false;
  TrialPool own = pool();
  int told = 0;
  const std::vector<TrialRequest> requests = {request("ok"), request("hang"), request("ok")};
  const Expected<bool> ran = own.run(
      requests,
      [&](std::size_t i, const TrialAnswer &) -> Expected<void> {
        EXPECT_EQ(i, 0U);
        ++told;
        stop = true;
        return {};
      },
      &stop);
  ASSERT_TRUE(ran);
  EXPECT_FALSE(*ran);
  EXPECT_EQ(told, 1);
  EXPECT_EQ(answers(own, {request("ok")})[0].state, TrialState::ok) << "usable afterwards";
}

TEST_F(TrialPoolTest, AnErrorOfTheListenerEndsTheRun) {
  TrialPool own = pool();
  const std::vector<TrialRequest> requests = {request("ok"), request("ok")};
  const Expected<bool> ran =
      own.run(requests,
              [](std::size_t, const TrialAnswer &) -> Expected<void> { return failed("no room"); });
  ASSERT_FALSE(ran);
  EXPECT_EQ(ran.error().message, "no room");
}

TEST_F(TrialPoolTest, AProgramThatIsNotThereIsAnError) {
  TrialPool own({{"/no/such/program"}, 1});
  const std::vector<TrialRequest> requests = {request("ok")};
  const Expected<bool> ran =
      own.run(requests, [](std::size_t, const TrialAnswer &) -> Expected<void> { return {}; });
  ASSERT_FALSE(ran);
  EXPECT_THAT(ran.error().message, HasSubstr("/no/such/program"));
}

} // namespace
} // namespace kw
