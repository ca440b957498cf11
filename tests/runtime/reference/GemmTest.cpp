// Kernelwright
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "runtime/reference/Gemm.h"

#include "ir/Problem.h"
#include "runtime/Numbers.h"
#include "runtime/RandomValues.h"

#include <cmath>
#include <gtest/gtest.h>
#include <string>
#include <vector>

namespace kw {
namespace {

Gemm parse(const std::string &text) {
  const auto problem = parseProblem("gemm " + text);
  EXPECT_TRUE(problem) << (problem ? "" : problem.error().message);
  return problem->gemm();
}

struct Operands {
  std::vector<std::uint8_t> a, b;
};

std::vector<std::uint8_t> randomTensor(const Tensor &tensor, std::uint64_t seed) {
  std::vector<std::uint8_t> bytes(static_cast<std::size_t>(spanBytes(tensor)));
  RandomSource source;
  source.seed = seed;
  fillRandom(source, tensor.type, bytes.data(), 0, spanBytes(tensor) * 8 / bitWidth(tensor.type));
  return bytes;
}

Operands randomOperands(const Gemm &gemm) {
  const std::vector<Tensor> all = tensors(Problem{gemm});
  return {randomTensor(all[0], 1), randomTensor(all[1], 2)};
}

double element(ElementType type, const std::vector<std::uint8_t> &data, std::int64_t index) {
  return decodeNumber(type, loadBits(type, data.data(), index));
}

/// The definition, one element at a time.
double definition(const Gemm &g, const Operands &operands, std::int64_t batch, std::int64_t row,
                  std::int64_t col, bool magnitude) {
  double sum = 0;
  for (std::int64_t k = 0; k < g.k; ++k) {
    const std::int64_t atA = batch * g.sa + (g.aTransposed ? k * g.lda + row : row * g.lda + k);
    const std::int64_t atB = batch * g.sb + (g.bTransposed ? col * g.ldb + k : k * g.ldb + col);
    const double product = element(g.aType, operands.a, atA) * element(g.bType, operands.b, atB);
    sum += magnitude ? std::fabs(product) : product;
  }
  return magnitude ? std::fabs(g.alpha) * sum : g.alpha * sum;
}

void expectDefinition(const std::string &text, const GemmBlock &block) {
  const Gemm gemm = parse(text);
  const Operands operands = randomOperands(gemm);
  const GemmReference all = referenceGemm(gemm, operands.a.data(), operands.b.data(), block, true);
  const GemmReference values =
      referenceGemm(gemm, operands.a.data(), operands.b.data(), block, false);
  EXPECT_TRUE(values.magnitude.empty());
  for (std::int64_t i = 0; i < block.rows * block.cols; ++i) {
    const std::int64_t row = block.row + i / block.cols;
    const std::int64_t col = block.col + i % block.cols;
    const auto at = static_cast<std::size_t>(i);
    const double magnitude = definition(gemm, operands, block.batch, row, col, true);
    EXPECT_NEAR(all.value[at], definition(gemm, operands, block.batch, row, col, false),
                1e-13 * magnitude)
        << text << " at " << row << ", " << col;
    EXPECT_NEAR(all.magnitude[at], magnitude, 1e-13 * magnitude);
    EXPECT_EQ(values.value[at], all.value[at]);
  }
}

TEST(ReferenceGemm, AllOrders) {
  for (const char *a : {"mk", "km"}) {
    for (const char *b : {"kn", "nk"}) {
      expectDefinition(std::string("m=13 n=11 k=37 dtype=bf16 a=") + a + " b=" + b,
                       {0, 2, 3, 11, 8});
    }
  }
}

TEST(ReferenceGemm, AllTypes) {
  for (const char *type : {"f32", "f16", "bf16"}) {
    expectDefinition(std::string("m=5 n=6 k=9 dtype=") + type, {0, 0, 0, 5, 6});
  }
  expectDefinition("m=5 n=6 k=9 adtype=f16 bdtype=bf16", {0, 0, 0, 5, 6});
  expectDefinition("m=5 n=6 k=9 dtype=fp8 scale=none", {0, 0, 0, 5, 6});
  expectDefinition("m=5 n=6 k=9 dtype=bf8 scale=none b=nk", {0, 0, 0, 5, 6});
}

TEST(ReferenceGemm, SumsLongerThanAChunk) {
  expectDefinition("m=3 n=4 k=1537 dtype=bf16 b=nk", {0, 0, 0, 3, 4});
  expectDefinition("m=3 n=4 k=1537 dtype=bf16 a=km", {0, 0, 0, 3, 4});
}

TEST(ReferenceGemm, StridesBatchesAndAlpha) {
  expectDefinition("m=7 n=5 k=6 dtype=f16 lda=11 ldb=9 ldc=8", {0, 1, 1, 6, 4});
  expectDefinition("m=7 n=5 k=6 batch=3 dtype=f16 b=nk sb=0 alpha=-0.5", {2, 0, 0, 7, 5});
  expectDefinition("m=7 n=5 k=6 batch=3 dtype=f16 sa=50 lda=7", {1, 0, 0, 7, 5});
}

TEST(ReferenceGemm, SaysWhatIsNotCovered) {
  EXPECT_TRUE(checkReferenceCovers(parse("m=1 n=1 k=1 dtype=bf16 alpha=2")));
  EXPECT_TRUE(checkReferenceCovers(parse("m=1 n=1 k=1 dtype=bf16 beta=1 epilogue=bias")));
  for (const char *text :
       {"dtype=fp8", "dtype=bf16 epilogue=quant:fp8", "dtype=bf16 preshuffle=1"}) {
    EXPECT_FALSE(checkReferenceCovers(parse(std::string("m=1 n=1 k=1 ") + text))) << text;
  }
}

} // namespace
} // namespace kw
