// Kernelwright
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "runtime/reference/Packing.h"

#include "ir/PreshuffledLayout.h"
#include "ir/Problem.h"
#include "runtime/RandomValues.h"
#include "runtime/reference/Gemm.h"

#include <gtest/gtest.h>
#include <string>
#include <vector>

namespace kw {
namespace {

std::vector<std::uint8_t> randomBytes(const Tensor &tensor, std::uint64_t seed) {
  std::vector<std::uint8_t> bytes(static_cast<std::size_t>(spanBytes(tensor)));
  fillRandom({RandomSource::Kind::integers, seed}, tensor.type, bytes.data(), 0,
             spanBytes(tensor) * 8 / bitWidth(tensor.type));
  return bytes;
}

/// A product with packed weights is the product.
void expectSameProduct(const std::string &text) {
  const Problem plain = *parseProblem("gemm " + text);
  const Problem packed = *parseProblem("gemm " + text + " preshuffle=1");
  const std::vector<std::uint8_t> a = randomBytes(tensors(plain)[0], 1);
  const std::vector<std::uint8_t> b = randomBytes(tensors(plain)[1], 2);
  std::vector<std::uint8_t> weights(static_cast<std::size_t>(spanBytes(tensors(packed)[1])), 0xFF);
  packWeights(plain.gemm(), b.data(), weights.data());
  const Gemm &gemm = plain.gemm();
  for (std::int64_t batch = 0; batch < gemm.batch; ++batch) {
    const GemmBlock block{batch, 1, 2, gemm.m - 1, gemm.n - 2};
    EXPECT_EQ(referenceGemm(packed.gemm(), a.data(), weights.data(), block, true).value,
              referenceGemm(gemm, a.data(), b.data(), block, true).value)
        << text;
  }
}

TEST(PackWeights, TheReferenceReadsWhatIsPacked) {
  expectSameProduct("m=5 n=33 k=96 dtype=bf16 b=nk");
  expectSameProduct("m=5 n=48 k=544 dtype=f16 b=kn");
  expectSameProduct("m=3 n=7 k=128 dtype=i8 b=nk batch=3");
}

TEST(PackWeights, PadsColumnsWithZeros) {
  const Problem problem = *parseProblem("gemm m=1 n=1 k=32 dtype=bf16 b=nk");
  const std::vector<std::uint8_t> b(64, 1);
  std::vector<std::uint8_t> packed(1024, 0xFF);
  packWeights(problem.gemm(), b.data(), packed.data());
  int ones = 0;
  for (std::size_t i = 0; i < packed.size(); ++i) {
    ones += packed[i];
    EXPECT_EQ(packed[i], i / 16 % 16 == 0 ? 1 : 0) << i;
  }
  EXPECT_EQ(ones, 64);
}

} // namespace
} // namespace kw
