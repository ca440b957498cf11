// Kernelwright
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "runtime/hip/Disposable.h"

#include <cstdlib>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <string>
#include <unistd.h>

namespace kw {
namespace {

using testing::HasSubstr;

TEST(Disposable, HandsTextBack) {
  const std::string large(300'000, 'x'); // more than a pipe holds
  const auto text = runDisposable(
      [&](const Heartbeat &) -> Expected<std::string> { return large + '\0' + "end"; }, 60);
  ASSERT_TRUE(text) << text.error().message;
  EXPECT_EQ(*text, large + '\0' + "end");
}

TEST(Disposable, HandsErrorsBack) {
  for (const auto kind : {Error::Kind::badInput, Error::Kind::nothingLegal, Error::Kind::failed}) {
    const auto refused = runDisposable(
        [&](const Heartbeat &) -> Expected<std::string> {
          return tl::unexpected<Error>(Error{kind, "why"});
        },
        60);
    ASSERT_FALSE(refused);
    EXPECT_EQ(refused.error().kind, kind);
    EXPECT_EQ(refused.error().message, "why");
  }
}

TEST(Disposable, WhatTheChildDoesToItsMemoryStaysThere) {
  int value = 1;
  ASSERT_TRUE(runDisposable(
      [&](const Heartbeat &) -> Expected<std::string> {
        value = 2;
        return "";
      },
      60));
  EXPECT_EQ(value, 1);
}

TEST(Disposable, TheLimitStartsAgainWithEachHeartbeat) {
  const auto text = runDisposable(
      [](const Heartbeat &heartbeat) -> Expected<std::string> {
        for (int i = 0; i < 8; ++i) {
          heartbeat("waiting");
          usleep(200'000);
        }
        return "done";
      },
      1);
  EXPECT_TRUE(text) << text.error().message;
}

TEST(Disposable, SilenceEndsItAndTellsWhatItDid) {
  const auto hung = runDisposable(
      [](const Heartbeat &heartbeat) -> Expected<std::string> {
        heartbeat("looping");
        while (true) {
          pause();
        }
      },
      0.3);
  ASSERT_FALSE(hung);
  EXPECT_THAT(hung.error().message, HasSubstr("looping did not end within 0.3 s"));
}

TEST(Disposable, DeathIsTold) {
  const auto died =
      runDisposable([](const Heartbeat &) -> Expected<std::string> { ::_exit(7); }, 60);
  ASSERT_FALSE(died);
  EXPECT_THAT(died.error().message, HasSubstr("its process ended with status 7"));
}

} // namespace
} // namespace kw
