// Kernelwright
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Between [lane][word] in memory and [word][lane] in registers, for waves with all lanes on.
#include "runtime/emulator/MemoryAccess.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "runtime/emulator/semantics/LaneCopies.cpp"
// In this order: each line needs the one before.
#include "runtime/emulator/semantics/Targets.h"

#include <hwy/foreach_target.h>

#include <hwy/highway.h>

HWY_BEFORE_NAMESPACE();
namespace kw::detail::HWY_NAMESPACE {

namespace hn = hwy::HWY_NAMESPACE;

template <int words>
void gatherWords(Register *to, const std::uint8_t *base, const std::uint32_t *offset) {
  for (int l = 0; l < laneCount; ++l) {
    std::uint32_t words_[words];
    std::memcpy(words_, base + offset[l], 4 * words);
    for (int word = 0; word < words; ++word) {
      to[word][l] = words_[word];
    }
  }
}

template <int words>
void scatterWords(const Register *from, std::uint8_t *base, const std::uint32_t *offset) {
  for (int l = 0; l < laneCount; ++l) {
    std::uint32_t words_[words];
    for (int word = 0; word < words; ++word) {
      words_[word] = from[word][l];
    }
    std::memcpy(base + offset[l], words_, 4 * words);
  }
}

#if HWY_TARGET != HWY_SCALAR
using Four = hn::FixedTag<std::uint32_t, 4>;
using Pair = hn::FixedTag<std::uint64_t, 2>;

/// 4 x 4 transposition of dwords: rows a..d in, columns out (and back).
template <class V> HWY_INLINE void transpose(V &a, V &b, V &c, V &d) {
  const Four four;
  const Pair pair;
  const auto ab0 = hn::BitCast(pair, hn::InterleaveLower(four, a, b));
  const auto ab1 = hn::BitCast(pair, hn::InterleaveUpper(four, a, b));
  const auto cd0 = hn::BitCast(pair, hn::InterleaveLower(four, c, d));
  const auto cd1 = hn::BitCast(pair, hn::InterleaveUpper(four, c, d));
  a = hn::BitCast(four, hn::InterleaveLower(pair, ab0, cd0));
  b = hn::BitCast(four, hn::InterleaveUpper(pair, ab0, cd0));
  c = hn::BitCast(four, hn::InterleaveLower(pair, ab1, cd1));
  d = hn::BitCast(four, hn::InterleaveUpper(pair, ab1, cd1));
}

template <>
void gatherWords<4>(Register *to, const std::uint8_t *base, const std::uint32_t *offset) {
  const Four four;
  const auto load = [&](int l) {
    return hn::LoadU(four, reinterpret_cast<const std::uint32_t *>(base + offset[l]));
  };
  for (int l = 0; l < laneCount; l += 4) {
    auto a = load(l), b = load(l + 1), c = load(l + 2), d = load(l + 3);
    transpose(a, b, c, d);
    hn::Store(a, four, to[0] + l);
    hn::Store(b, four, to[1] + l);
    hn::Store(c, four, to[2] + l);
    hn::Store(d, four, to[3] + l);
  }
}

template <>
void scatterWords<4>(const Register *from, std::uint8_t *base, const std::uint32_t *offset) {
  const Four four;
  for (int l = 0; l < laneCount; l += 4) {
    auto a = hn::Load(four, from[0] + l), b = hn::Load(four, from[1] + l),
         c = hn::Load(four, from[2] + l), d = hn::Load(four, from[3] + l);
    transpose(a, b, c, d);
    hn::StoreU(a, four, reinterpret_cast<std::uint32_t *>(base + offset[l]));
    hn::StoreU(b, four, reinterpret_cast<std::uint32_t *>(base + offset[l + 1]));
    hn::StoreU(c, four, reinterpret_cast<std::uint32_t *>(base + offset[l + 2]));
    hn::StoreU(d, four, reinterpret_cast<std::uint32_t *>(base + offset[l + 3]));
  }
}
#endif

void gather(Register *to, const std::uint8_t *base, const std::uint32_t *offset, int words) {
  switch (words) {
  case 1:
    return gatherWords<1>(to, base, offset);
  case 2:
    return gatherWords<2>(to, base, offset);
  case 3:
    return gatherWords<3>(to, base, offset);
  default:
    return gatherWords<4>(to, base, offset);
  }
}
void scatter(const Register *from, std::uint8_t *base, const std::uint32_t *offset, int words) {
  switch (words) {
  case 1:
    return scatterWords<1>(from, base, offset);
  case 2:
    return scatterWords<2>(from, base, offset);
  case 3:
    return scatterWords<3>(from, base, offset);
  default:
    return scatterWords<4>(from, base, offset);
  }
}

const LaneCopies *copies() {
  static const LaneCopies table{gather, scatter};
  return &table;
}

} // namespace kw::detail::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace kw::detail {
HWY_EXPORT(copies);
const LaneCopies &laneCopies() {
  static const LaneCopies &table = *HWY_DYNAMIC_DISPATCH(copies)();
  return table;
}
} // namespace kw::detail
#endif
