// Kernelwright
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// How the libraries report that the outside world or the user's input failed. A bug asserts, an
// illegal schedule is a `Violation` (ir/Rule.h); everything else that can go wrong is an `Error`.
#pragma once

#include <string>
#include <tl/expected.hpp>
#include <utility>

namespace kw {

struct Error {
  /// Decides the program's exit status: badInput 2, nothingLegal 3, failed 1.
  enum class Kind { badInput, nothingLegal, failed };

  Kind kind = Kind::failed;
  /// One line: what is wrong, where, and what would be accepted.
  std::string message;
};

template <typename T> using Expected = tl::expected<T, Error>;

inline tl::unexpected<Error> badInput(std::string message) {
  return tl::unexpected<Error>(Error{Error::Kind::badInput, std::move(message)});
}

inline tl::unexpected<Error> nothingLegal(std::string message) {
  return tl::unexpected<Error>(Error{Error::Kind::nothingLegal, std::move(message)});
}

inline tl::unexpected<Error> failed(std::string message) {
  return tl::unexpected<Error>(Error{Error::Kind::failed, std::move(message)});
}

} // namespace kw
