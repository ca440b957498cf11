// Kernelwright
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A compiled kernel as it is stored, launched, proven and exported: HSACO bytes and the manifest
// that says which kernels to launch with what. codegen makes it, runtime runs it; neither knows
// the other. The manifest's JSON form is the contract of `kw launch`.
#pragma once

#include "ir/ElementType.h"
#include "ir/support/Expected.h"

#include <array>
#include <cstdint>
#include <nlohmann/json_fwd.hpp>
#include <optional>
#include <string>
#include <utility>
#include <variant>
#include <vector>

namespace kw {

/// How a buffer is filled before the first launch.
struct BufferInit {
  enum class Kind { zero, poison, normal, uniform, integers, bytes, file };
  Kind kind = Kind::poison;
  ElementType dtype = ElementType::u8; ///< of random values
  std::uint64_t seed = 0;
  std::string file; ///< raw little-endian, relative to the manifest
};

enum class BufferRole { input, output, workspace };

/// A named device allocation. `shape` is in storage order, outermost first; empty when unknown.
struct Buffer {
  std::string name;
  std::int64_t bytes = 0;
  BufferRole role = BufferRole::input;
  std::optional<ElementType> dtype;
  std::vector<std::int64_t> shape;
  BufferInit init;
  std::string save; ///< file to write the contents to after the last launch; empty: none
};

struct BufferArgument {
  std::string buffer;
  std::int64_t at = 0; ///< byte offset into the buffer
};

struct NullArgument {};

/// A scalar of `type`, already as raw little-endian bytes; `bytes` (hex) arguments have no type.
struct ValueArgument {
  std::optional<ElementType> type;
  std::vector<std::uint8_t> bytes;
};

struct Argument {
  std::optional<std::int64_t> offset; ///< in the kernarg segment; absent: in metadata order
  std::variant<BufferArgument, NullArgument, ValueArgument> value;
};

struct Launch {
  std::string kernel;
  std::array<std::uint32_t, 3> grid{1, 1, 1};  ///< workgroups
  std::array<std::uint32_t, 3> block{1, 1, 1}; ///< work-items
  std::uint32_t dynamicLds = 0;                ///< bytes
  std::vector<Argument> arguments;
};

/// Launches run in order over the same buffers. `problem` and `schedule` are text forms, empty for
/// code objects of others. `guards` are expressions (ir/Expression.h) under which the kernel is
/// right for other run-time sizes.
struct Manifest {
  std::string codeObject; ///< file name, relative to the manifest
  std::vector<Buffer> buffers;
  std::vector<Launch> launches;
  std::vector<std::string> guards;
  std::string problem;
  std::string schedule;
  std::string target;

  const Buffer *findBuffer(std::string_view name) const;
};

/// Reads the long and the short form; every error names the offending key. Sizes, offsets and the
/// references from arguments to buffers are checked.
Expected<Manifest> parseManifest(const nlohmann::json &json);
/// Always the long form.
nlohmann::json toJson(const Manifest &manifest);

/// What the code object's metadata note and descriptor say of one kernel.
struct KernelResources {
  std::string kernel;
  int vgpr = 0; ///< architectural VGPRs, without AGPRs
  int agpr = 0;
  int sgpr = 0;
  int vgprSpills = 0;
  int sgprSpills = 0;
  std::int64_t ldsBytes = 0;
  std::int64_t scratchBytes = 0;
  std::int64_t kernargBytes = 0;
  int occupancy = 0; ///< waves per SIMD by registers and LDS, for the compiled workgroup size
};

struct CodeObject {
  std::vector<std::uint8_t> hsaco;
  Manifest manifest;
  std::vector<KernelResources> kernels;
};

} // namespace kw
