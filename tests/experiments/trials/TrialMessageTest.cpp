// Kernelwright
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "experiments/trials/TrialMessage.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace kw {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

TEST(TrialMessage, RequestsComeBackAsTheyWentOut) {
  TrialRequest request;
  request.id = R"({"run":3})";
  request.problem = "gemm m=1 n=2 k=3";
  request.schedule = "gemm.1:";
  request.rungs = {Rung::compiled, Rung::validated};
  request.seed = 7;
  request.limits = {2.5, 512};
  request.manifest = "/a/b.json";
  const std::string line = printRequest(request);
  EXPECT_EQ(line.find('\n'), std::string::npos);
  const Expected<TrialRequest> parsed = parseRequest(line);
  ASSERT_TRUE(parsed) << parsed.error().message;
  EXPECT_EQ(printRequest(*parsed), line);
  EXPECT_THAT(parsed->rungs, ElementsAre(Rung::compiled, Rung::validated));
  EXPECT_EQ(parsed->limits.memoryMb, 512);
}

TEST(TrialMessage, WhatIsLeftOutHasItsDefault) {
  const Expected<TrialRequest> parsed = parseRequest(R"({"id":1,"problem":"p","schedule":"s"})");
  ASSERT_TRUE(parsed);
  EXPECT_EQ(parsed->id, "1");
  EXPECT_EQ(parsed->target, "gfx950");
  EXPECT_THAT(parsed->rungs, ElementsAre(Rung::compiled, Rung::validated));
}

TEST(TrialMessage, BadRequestsNameTheKey) {
  const std::pair<const char *, const char *> cases[] = {
      {R"({"id":1,"problem":"p"})", "schedule"},
      {R"({"id":1,"problem":"p","schedule":"s","rungs":["fast"]})", "rungs"},
      {R"({"id":1,"problem":"p","schedule":"s","limits":{"seconds":-1}})", "limits.seconds"},
      {R"({"id":1,"problem":"p","schedule":"s","limits":{"memory_mb":0}})", "limits.memory_mb"},
      {R"({"id":1,"problem":"p","schedule":"s","surprise":0})", "surprise"},
      {"nonsense", "is not JSON"},
      {"[]", ""},
  };
  for (const auto &[line, part] : cases) {
    const Expected<TrialRequest> parsed = parseRequest(line);
    ASSERT_FALSE(parsed) << line;
    EXPECT_THAT(parsed.error().message, HasSubstr(part)) << line;
  }
}

TEST(TrialMessage, AnswersComeBackAsTheyWentOut) {
  TrialAnswer answer;
  answer.id = "\"x\"";
  answer.state = TrialState::compileFailed;
  answer.error = "no registers";
  answer.rungs["compiled"] = {{"vgpr", 12}};
  const std::string line = printAnswer(answer);
  EXPECT_EQ(line, R"({"id":"x","state":"compile_failed","error":"no registers",)"
                  R"("rungs":{"compiled":{"vgpr":12}},"hsaco":null})");
  const Expected<TrialAnswer> parsed = parseAnswer(line);
  ASSERT_TRUE(parsed);
  EXPECT_EQ(printAnswer(*parsed), line);
}

TEST(TrialMessage, OtherOutputIsNoAnswer) {
  for (const char *line :
       {"", "hello", "[1]", "{}", R"({"id":1})", R"({"id":1,"state":"great"})"}) {
    EXPECT_FALSE(parseAnswer(line)) << line;
  }
}

} // namespace
} // namespace kw
