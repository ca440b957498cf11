// Kernelwright
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// VOPC from one table: every predicate for every type, as V_CMP_* and V_CMPX_*.
#include <bit>
#include <cmath>
#include <cstring>
#include <deque>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "runtime/emulator/semantics/Compare.cpp"
// In this order: each line needs the one before.
#include "runtime/emulator/semantics/Targets.h"

#include <hwy/foreach_target.h>

#include "runtime/emulator/semantics/Lanes-inl.h"

#ifndef KW_COMPARE_NAMES
#define KW_COMPARE_NAMES
namespace kw::detail {
/// Names are built; the rows keep views of them.
struct CompareTable {
  std::deque<std::string> names;
  std::vector<Semantics> rows;
  void add(std::string name, Handler run) {
    rows.push_back({names.emplace_back(std::move(name)), run});
  }
};
} // namespace kw::detail
#endif

HWY_BEFORE_NAMESPACE();
namespace kw::detail::HWY_NAMESPACE {

KW_INLINE f32 number(Half x) { return value(x); }
template <class T> KW_INLINE T number(T x) { return x; }

#define KW_PREDICATE(NAME, TEXT, EXPRESSION)                                                       \
  template <class T> struct NAME {                                                                 \
    static constexpr const char *text = TEXT;                                                      \
    static constexpr auto test = [](T x, T y) {                                                    \
      [[maybe_unused]] const auto a = number(x);                                                   \
      [[maybe_unused]] const auto b = number(y);                                                   \
      return static_cast<bool>(EXPRESSION);                                                        \
    };                                                                                             \
  };
KW_PREDICATE(False, "F", false)
KW_PREDICATE(Less, "LT", a < b)
KW_PREDICATE(Equal, "EQ", a == b)
KW_PREDICATE(LessEqual, "LE", a <= b)
KW_PREDICATE(Greater, "GT", a > b)
KW_PREDICATE(NotEqual, "NE", a != b)
KW_PREDICATE(LessGreater, "LG", a<b || a> b)
KW_PREDICATE(GreaterEqual, "GE", a >= b)
KW_PREDICATE(True, "T", true)
KW_PREDICATE(Ordered, "O", a == a && b == b)
KW_PREDICATE(Unordered, "U", a != a || b != b)
KW_PREDICATE(NotGreaterEqual, "NGE", !(a >= b))
KW_PREDICATE(NotLessGreater, "NLG", !(a < b || a > b))
KW_PREDICATE(NotGreater, "NGT", !(a > b))
KW_PREDICATE(NotLessEqual, "NLE", !(a <= b))
KW_PREDICATE(NotEqualFloat, "NEQ", a != b)
KW_PREDICATE(NotLess, "NLT", !(a < b))
KW_PREDICATE(TrueFloat, "TRU", true)
#undef KW_PREDICATE

template <class T, template <class> class... P>
void addType(CompareTable &table, const char *type) {
  (table.add(std::string("V_CMP_") + P<T>::text + "_" + type, compare<P<T>::test>), ...);
  (table.add(std::string("V_CMPX_") + P<T>::text + "_" + type, compareExec<P<T>::test>), ...);
}
template <class T> void addInteger(CompareTable &table, const char *type) {
  addType<T, False, Less, Equal, LessEqual, Greater, NotEqual, GreaterEqual, True>(table, type);
}
template <class T> void addFloat(CompareTable &table, const char *type) {
  addType<T, False, Less, Equal, LessEqual, Greater, LessGreater, GreaterEqual, Ordered, Unordered,
          NotGreaterEqual, NotLessGreater, NotGreater, NotLessEqual, NotEqualFloat, NotLess,
          TrueFloat>(table, type);
}

/// Classes of v_cmp_class: bits 0 signalling NaN, 1 quiet NaN, 2 -inf, 3 -normal, 4 -denormal,
/// 5 -0, 6 +0, 7 +denormal, 8 +normal, 9 +inf.
template <class T, class Bits, int mantissa> KW_INLINE bool hasClass(Bits x, u32 mask) {
  constexpr Bits one = 1, sign = one << (8 * sizeof(Bits) - 1), fraction = (one << mantissa) - 1;
  constexpr Bits top = static_cast<Bits>(~sign & ~fraction);
  const Bits exponent = x & top;
  const bool negative = x & sign;
  const bool zeroFraction = (x & fraction) == 0;
  const u32 kind = exponent == top
                       ? (zeroFraction ? (negative ? 2 : 9) : (x >> (mantissa - 1) & 1 ? 1 : 0))
                   : exponent == 0 ? (zeroFraction ? (negative ? 5 : 6) : (negative ? 4 : 7))
                                   : (negative ? 3 : 8);
  return mask >> kind & 1;
}
KW_INLINE bool isClass32(f32 a, u32 mask) { return hasClass<f32, u32, 23>(bitsOf(a), mask); }
KW_INLINE bool isClass64(f64 a, u32 mask) {
  return hasClass<f64, u64, 52>(std::bit_cast<u64>(a), mask);
}
KW_INLINE bool isClass16(Half a, u32 mask) { return hasClass<Half, u16, 10>(a.bits, mask); }

std::span<const Semantics> compareRows() {
  static const CompareTable table = [] {
    CompareTable built;
    addInteger<i32>(built, "I32");
    addInteger<u32>(built, "U32");
    addInteger<i64>(built, "I64");
    addInteger<u64>(built, "U64");
    addInteger<i16>(built, "I16");
    addInteger<u16>(built, "U16");
    addFloat<f32>(built, "F32");
    addFloat<f64>(built, "F64");
    addFloat<Half>(built, "F16");
    built.add("V_CMP_CLASS_F32", compare<[](f32 a, u32 b) { return isClass32(a, b); }>);
    built.add("V_CMP_CLASS_F64", compare<[](f64 a, u32 b) { return isClass64(a, b); }>);
    built.add("V_CMP_CLASS_F16", compare<[](Half a, u32 b) { return isClass16(a, b); }>);
    built.add("V_CMPX_CLASS_F32", compareExec<[](f32 a, u32 b) { return isClass32(a, b); }>);
    built.add("V_CMPX_CLASS_F64", compareExec<[](f64 a, u32 b) { return isClass64(a, b); }>);
    built.add("V_CMPX_CLASS_F16", compareExec<[](Half a, u32 b) { return isClass16(a, b); }>);
    return built;
  }();
  return table.rows;
}

} // namespace kw::detail::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace kw::detail {
HWY_EXPORT(compareRows);
std::span<const Semantics> compareTable() { return HWY_DYNAMIC_DISPATCH(compareRows)(); }
} // namespace kw::detail
#endif
