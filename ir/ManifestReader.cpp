// Kernelwright
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Reads manifests of anybody's making. Keys that change what runs (of buffers, launches and
// arguments) must be known ones; at the top level others may keep notes of their own.
#include "ir/CodeObject.h"
#include "ir/ManifestNames.h"
#include "ir/ScalarValue.h"
#include "ir/support/JsonReader.h"

#include <algorithm>
#include <fmt/format.h>
#include <limits>
#include <nlohmann/json.hpp>

namespace kw {
namespace {

constexpr std::int64_t largestSize = (std::int64_t{1} << 47) - 1; // of a user address space
constexpr std::int64_t largestWorkgroup = 1024;                   // work-items [ISA]
// A dispatch packet counts work-items in 32 bits per dimension [HSA kernel dispatch packet].
constexpr std::int64_t largestDimension = std::numeric_limits<std::uint32_t>::max();
constexpr std::size_t addressBytes = 8;

ElementType readType(const JsonReader &reader) {
  const std::string text = reader.string();
  const std::optional<ElementType> type = parseElementType(text);
  if (!type) {
    reader.complain(fmt::format("unknown type {}, expected one like f32, bf16, fp8 or i32", //
                                quotedText(text)));
  }
  return type.value_or(ElementType::u8);
}

BufferInit readRandom(const JsonReader &reader, std::optional<ElementType> bufferType) {
  reader.allowOnly({"random", "dtype", "seed"});
  BufferInit init;
  init.kind =
      static_cast<BufferInit::Kind>(reader.at("random").choice(randomKindNames) + firstRandomKind);
  if (reader.has("dtype")) {
    init.dtype = readType(reader.at("dtype"));
  } else if (bufferType) {
    init.dtype = *bufferType;
  } else if (init.kind != BufferInit::Kind::bytes) {
    reader.at("dtype"); // complains
  }
  if (reader.has("seed")) {
    const JsonReader seed = reader.at("seed");
    if (seed.json().is_number_unsigned()) {
      init.seed = seed.json().get<std::uint64_t>();
    } else {
      seed.complain("expected an integer, 0 or more");
    }
  }
  return init;
}

BufferInit readInit(const JsonReader &reader, std::optional<ElementType> bufferType) {
  BufferInit init;
  if (reader.json() == "zero") {
    init.kind = BufferInit::Kind::zero;
  } else if (reader.has("file")) {
    reader.allowOnly({"file"});
    init.kind = BufferInit::Kind::file;
    init.file = reader.at("file").string();
  } else if (reader.has("random")) {
    init = readRandom(reader, bufferType);
  } else if (reader.json() != "poison") {
    reader.complain("expected \"zero\", \"poison\", {\"random\": KIND, ...} or {\"file\": NAME}");
  }
  return init;
}

/// What a named buffer and one written in place have in common.
Buffer readBuffer(const JsonReader &reader, std::string name) {
  Buffer buffer;
  buffer.name = std::move(name);
  buffer.bytes = reader.at("bytes").integer(1, largestSize);
  if (reader.has("save")) {
    buffer.save = reader.at("save").string();
    buffer.role = BufferRole::output;
  }
  if (reader.has("role")) {
    buffer.role = static_cast<BufferRole>(reader.at("role").choice(bufferRoleNames));
  }
  if (reader.has("dtype")) {
    buffer.dtype = readType(reader.at("dtype"));
  }
  if (reader.has("shape")) {
    for (const JsonReader &size : reader.at("shape").elements()) {
      buffer.shape.push_back(size.integer(1, largestSize));
    }
  }
  if (reader.has("init")) {
    buffer.init = readInit(reader.at("init"), buffer.dtype);
  }
  return buffer;
}

std::vector<std::uint8_t> readHex(const JsonReader &reader) {
  const std::string text = reader.string();
  const auto digit = [](char c) {
    return std::string_view("0123456789abcdef").find(c >= 'A' && c <= 'F' ? c - 'A' + 'a' : c);
  };
  const bool allDigits = std::all_of(text.begin(), text.end(),
                                     [&](char c) { return digit(c) != std::string_view::npos; });
  std::vector<std::uint8_t> bytes;
  if (!allDigits || text.size() % 2 != 0) {
    reader.complain("expected hexadecimal digits, two a byte");
    return bytes;
  }
  for (std::size_t i = 0; i < text.size(); i += 2) {
    bytes.push_back(static_cast<std::uint8_t>(digit(text[i]) << 4 | digit(text[i + 1])));
  }
  return bytes;
}

class ManifestReader {
public:
  explicit ManifestReader(const nlohmann::json &json) : root(json, "", complaint) {}

  Expected<Manifest> read();

private:
  void readBuffers();
  void readLaunches();
  Launch readLaunch(const JsonReader &reader, const std::string &namePrefix);
  std::array<std::uint32_t, 3> readExtent(const JsonReader &reader, std::int64_t largest);
  void checkExtent(const JsonReader &reader, const Launch &launch);
  Argument readArgument(const JsonReader &reader, const std::string &inPlaceName);
  BufferArgument readBufferArgument(const JsonReader &reader, const std::string &inPlaceName);
  ValueArgument readValueArgument(const JsonReader &reader, const std::string &kind);
  void checkOverlap(const JsonReader &reader, const Launch &launch);

  std::optional<Error> complaint;
  JsonReader root;
  Manifest manifest;
};

void ManifestReader::readBuffers() {
  for (const auto &[name, reader] : root.at("buffers").members()) {
    if (name.empty()) {
      reader.complain("a buffer needs a name");
    }
    reader.allowOnly({"bytes", "role", "dtype", "shape", "init", "save"});
    manifest.buffers.push_back(readBuffer(reader, name));
  }
}

BufferArgument ManifestReader::readBufferArgument(const JsonReader &reader,
                                                  const std::string &inPlaceName) {
  BufferArgument argument;
  if (reader.has("buffer")) {
    reader.allowOnly({"offset", "kind", "name", "buffer", "at"});
    argument.buffer = reader.at("buffer").string();
    if (manifest.findBuffer(argument.buffer) == nullptr) {
      reader.at("buffer").complain(
          fmt::format("there is no buffer {} among `buffers`", quotedText(argument.buffer)));
    }
  } else if (reader.has("bytes")) {
    reader.allowOnly(
        {"offset", "kind", "name", "at", "bytes", "role", "dtype", "shape", "init", "save"});
    argument.buffer = reader.has("name") ? reader.at("name").string() : inPlaceName;
    if (manifest.findBuffer(argument.buffer) != nullptr) {
      reader.complain(fmt::format("there is a buffer {} already", quotedText(argument.buffer)));
    }
    manifest.buffers.push_back(readBuffer(reader, argument.buffer));
  } else {
    reader.complain("expected `buffer` with a buffer's name, or `bytes` of a buffer of its own");
  }
  const Buffer *buffer = manifest.findBuffer(argument.buffer);
  if (buffer != nullptr && reader.has("at")) {
    argument.at = reader.at("at").integer(0, buffer->bytes);
  }
  return argument;
}

ValueArgument ManifestReader::readValueArgument(const JsonReader &reader, const std::string &kind) {
  reader.allowOnly({"offset", "kind", "name", "value"});
  const JsonReader value = reader.at("value");
  if (kind == "bytes") {
    return {std::nullopt, readHex(value)};
  }
  const std::optional<ElementType> type = parseElementType(kind);
  if (!type || !isScalarType(*type)) {
    reader.at("kind").complain(
        fmt::format("unknown kind {}, expected buffer, null, bytes, i8, i16, i32, i64, u8, u16, "
                    "u32, u64, f16, bf16, f32 or f64",
                    quotedText(kind)));
    return {};
  }
  Expected<std::vector<std::uint8_t>> bytes = encodeScalar(*type, value.json());
  if (!bytes) {
    value.complain(fmt::format("{} ({})", bytes.error().message, kind));
    return {};
  }
  return {type, std::move(*bytes)};
}

Argument ManifestReader::readArgument(const JsonReader &reader, const std::string &inPlaceName) {
  Argument argument;
  const std::string kind = reader.at("kind").string();
  if (reader.has("offset")) {
    argument.offset = reader.at("offset").integer(0, largestSize);
  }
  if (kind == "buffer") {
    argument.value = readBufferArgument(reader, inPlaceName);
  } else if (kind == "null") {
    reader.allowOnly({"offset", "kind", "name"});
    argument.value = NullArgument{};
  } else {
    argument.value = readValueArgument(reader, kind);
  }
  return argument;
}

std::array<std::uint32_t, 3> ManifestReader::readExtent(const JsonReader &reader,
                                                        std::int64_t largest) {
  std::array<std::uint32_t, 3> extent{1, 1, 1};
  const std::vector<JsonReader> sizes = reader.elements();
  if (sizes.empty() || sizes.size() > extent.size()) {
    reader.complain("expected [x, y, z]");
    return extent;
  }
  for (std::size_t i = 0; i < sizes.size(); ++i) {
    extent[i] = static_cast<std::uint32_t>(sizes[i].integer(1, largest));
  }
  return extent;
}

void ManifestReader::checkExtent(const JsonReader &reader, const Launch &launch) {
  std::int64_t workItems = 1;
  std::int64_t workgroups = 1;
  for (std::size_t i = 0; i < launch.grid.size(); ++i) {
    workItems *= launch.block[i];
    if (std::int64_t{launch.grid[i]} * launch.block[i] > largestDimension) {
      reader.at("grid").complain(
          fmt::format("more than {} work-items in dimension {}", largestDimension, i));
    }
    workgroups =
        workgroups > largestSize / launch.grid[i] ? largestSize + 1 : workgroups * launch.grid[i];
  }
  if (workItems > largestWorkgroup) {
    reader.at("block").complain(
        fmt::format("{} work-items, a workgroup has at most {}", workItems, largestWorkgroup));
  }
  if (workgroups > largestSize) {
    reader.at("grid").complain(fmt::format("more than {} workgroups", largestSize));
  }
}

std::size_t kernargBytes(const Argument &argument) {
  const auto *value = std::get_if<ValueArgument>(&argument.value);
  return value == nullptr ? addressBytes : value->bytes.size();
}

void ManifestReader::checkOverlap(const JsonReader &reader, const Launch &launch) {
  std::vector<std::size_t> order;
  for (std::size_t i = 0; i < launch.arguments.size(); ++i) {
    if (launch.arguments[i].offset) {
      order.push_back(i);
    }
  }
  const auto offset = [&](std::size_t i) { return *launch.arguments[i].offset; };
  std::sort(order.begin(), order.end(),
            [&](std::size_t a, std::size_t b) { return offset(a) < offset(b); });
  for (std::size_t i = 1; i < order.size(); ++i) {
    const std::size_t before = order[i - 1];
    const auto end =
        offset(before) + static_cast<std::int64_t>(kernargBytes(launch.arguments[before]));
    if (offset(order[i]) < end) {
      reader.at("args").elements()[order[i]].at("offset").complain(
          fmt::format("{} overlaps args[{}]", offset(order[i]), before));
    }
  }
}

Launch ManifestReader::readLaunch(const JsonReader &reader, const std::string &namePrefix) {
  Launch launch;
  launch.kernel = reader.at("kernel").string();
  launch.grid = readExtent(reader.at("grid"), largestDimension);
  launch.block = readExtent(reader.at("block"), largestWorkgroup);
  if (!complaint) {
    checkExtent(reader, launch);
  }
  if (reader.has("dynamic_lds")) {
    launch.dynamicLds = static_cast<std::uint32_t>(
        reader.at("dynamic_lds").integer(0, std::numeric_limits<std::int32_t>::max()));
  }
  for (const JsonReader &argument : reader.at("args").elements()) {
    launch.arguments.push_back(
        readArgument(argument, fmt::format("{}arg{}", namePrefix, launch.arguments.size())));
  }
  if (!complaint) {
    checkOverlap(reader, launch);
  }
  return launch;
}

void ManifestReader::readLaunches() {
  if (!root.has("launches")) {
    manifest.launches.push_back(readLaunch(root, "")); // the short form
    return;
  }
  for (const char *key : {"kernel", "grid", "block", "dynamic_lds", "args"}) {
    if (root.has(key)) {
      root.at(key).complain("belongs into `launches`, which is there too");
    }
  }
  const std::vector<JsonReader> launches = root.at("launches").elements();
  if (launches.empty()) {
    root.at("launches").complain("expected at least one launch");
  }
  for (std::size_t i = 0; i < launches.size(); ++i) {
    launches[i].allowOnly({"kernel", "grid", "block", "dynamic_lds", "args"});
    manifest.launches.push_back(readLaunch(launches[i], i == 0 ? "" : fmt::format("launch{}.", i)));
  }
}

Expected<Manifest> ManifestReader::read() {
  if (root.has("version")) {
    root.at("version").integer(1, 1);
  }
  manifest.codeObject = root.at("code_object").string();
  if (root.has("buffers")) {
    readBuffers();
  }
  readLaunches();
  if (root.has("guards")) {
    for (const JsonReader &guard : root.at("guards").elements()) {
      manifest.guards.push_back(guard.string());
    }
  }
  for (const auto &[key, text] :
       {std::pair{"problem", &manifest.problem}, std::pair{"schedule", &manifest.schedule},
        std::pair{"target", &manifest.target}}) {
    if (root.has(key)) {
      *text = root.at(key).string();
    }
  }
  if (complaint) {
    return tl::unexpected<Error>(Error{complaint->kind, "manifest: " + complaint->message});
  }
  return std::move(manifest);
}

} // namespace

Expected<Manifest> parseManifest(const nlohmann::json &json) { return ManifestReader(json).read(); }

} // namespace kw
