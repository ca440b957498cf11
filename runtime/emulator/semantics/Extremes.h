// Kernelwright
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Minimum, maximum and median of floats. Of a NaN and a number they take the number; in IEEE mode a
// signalling NaN wins and becomes quiet; -0 < +0; denormals are flushed if MODE does not keep
// them. [ISA, v_min_f32 and following]
#pragma once

#include "runtime/emulator/semantics/Numbers.h"

#include <bit>
#include <type_traits>

namespace kw::detail {

template <class T> struct BitsOfFloat;
template <> struct BitsOfFloat<Half> {
  using Bits = u16;
  static constexpr int mantissa = 10;
};
template <> struct BitsOfFloat<f32> {
  using Bits = u32;
  static constexpr int mantissa = 23;
};
template <> struct BitsOfFloat<f64> {
  using Bits = u64;
  static constexpr int mantissa = 52;
};

/// `ieee`: MODE's bit. `flush`: denormals are not kept.
template <bool ieee, bool flush> struct Extremes {
  template <class T> using Bits = typename BitsOfFloat<T>::Bits;
  template <class T> static constexpr Bits<T> one = 1;
  template <class T> static constexpr Bits<T> quietBit = one<T> << (BitsOfFloat<T>::mantissa - 1);
  template <class T> static constexpr Bits<T> signBit = one<T> << (8 * sizeof(T) - 1);
  template <class T>
  static constexpr Bits<T> infinity =
      static_cast<Bits<T>>(~signBit<T>) & static_cast<Bits<T>>(~((quietBit<T> << 1) - 1));

  template <class T> KW_INLINE static Bits<T> raw(T x) { return std::bit_cast<Bits<T>>(x); }
  template <class T> KW_INLINE static bool isNaN(T x) {
    return static_cast<Bits<T>>(raw(x) & ~signBit<T>) > infinity<T>;
  }
  template <class T> KW_INLINE static bool isSignalling(T x) {
    return isNaN(x) && (raw(x) & quietBit<T>) == 0;
  }
  template <class T> KW_INLINE static T quiet(T x) {
    return std::bit_cast<T>(static_cast<Bits<T>>(raw(x) | quietBit<T>));
  }
  template <class T> KW_INLINE static T kept(T x) {
    const bool drop = flush && (raw(x) & infinity<T>) == 0;
    return std::bit_cast<T>(static_cast<Bits<T>>(drop ? raw(x) & signBit<T> : raw(x)));
  }
  /// The order of bits is the order of values, once negative ones are turned round.
  template <class T> KW_INLINE static std::make_signed_t<Bits<T>> order(T x) {
    using Signed = std::make_signed_t<Bits<T>>;
    const Signed bits = static_cast<Signed>(raw(x));
    return bits < 0 ? static_cast<Signed>(~bits ^ static_cast<Signed>(signBit<T>)) : bits;
  }
  template <class T> KW_INLINE static T choose(T a, T b, bool takeA) {
    const T number = isNaN(a) ? b : isNaN(b) ? a : takeA ? a : b;
    const T second = ieee && isSignalling(b) ? quiet(b) : number;
    return ieee && isSignalling(a) ? quiet(a) : second;
  }

  template <class T> KW_INLINE static T minimum(T x, T y) {
    const T a = kept(x), b = kept(y);
    return choose(a, b, order(a) < order(b));
  }
  template <class T> KW_INLINE static T maximum(T x, T y) {
    const T a = kept(x), b = kept(y);
    return choose(a, b, order(b) < order(a));
  }
  template <class T> KW_INLINE static T minimum3(T a, T b, T c) {
    return minimum(minimum(a, b), c);
  }
  template <class T> KW_INLINE static T maximum3(T a, T b, T c) {
    return maximum(maximum(a, b), c);
  }
  template <class T> KW_INLINE static T median(T a, T b, T c) {
    const T middle = maximum(minimum(a, b), minimum(maximum(a, b), c));
    return isNaN(a) || isNaN(b) || isNaN(c) ? minimum3(a, b, c) : middle;
  }
  /// v_minimum3, v_maximum3: NaN wins.
  template <class T> KW_INLINE static T minimumOrNan(T x, T y) {
    return isNaN(x) ? quiet(x) : isNaN(y) ? quiet(y) : minimum(x, y);
  }
  template <class T> KW_INLINE static T maximumOrNan(T x, T y) {
    return isNaN(x) ? quiet(x) : isNaN(y) ? quiet(y) : maximum(x, y);
  }
  template <class T> KW_INLINE static T minimumOrNan3(T a, T b, T c) {
    return minimumOrNan(minimumOrNan(a, b), c);
  }
  template <class T> KW_INLINE static T maximumOrNan3(T a, T b, T c) {
    return maximumOrNan(maximumOrNan(a, b), c);
  }
};

} // namespace kw::detail
