// Kernelwright
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "costmodel/Estimate.h"

#include <gtest/gtest.h>

#include <set>

using namespace kw;

TEST(Estimate, EveryTermHasANameOfItsOwn) {
  std::set<std::string_view> names;
  for (std::size_t i = 0; i < termCount; ++i) {
    names.insert(name(static_cast<Term>(i)));
  }
  EXPECT_EQ(names.size(), termCount);
  EXPECT_EQ(names.count(""), 0u);
  EXPECT_EQ(name(Term::lastRound), "last_round");
  EXPECT_EQ(name(Term::residual), "residual");
}
