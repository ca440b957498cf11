// Kernelwright
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Writes manifests; ManifestReader.cpp reads them.
#include "ir/CodeObject.h"

#include "ir/ManifestNames.h"
#include "ir/ScalarValue.h"

#include <algorithm>
#include <fmt/format.h>
#include <nlohmann/json.hpp>

namespace kw {
namespace {

using Json = nlohmann::json;

Json initToJson(const BufferInit &init) {
  switch (init.kind) {
  case BufferInit::Kind::zero:
    return "zero";
  case BufferInit::Kind::poison:
    return "poison";
  case BufferInit::Kind::file:
    return {{"file", init.file}};
  default:
    break;
  }
  const auto index = static_cast<std::size_t>(init.kind) - firstRandomKind;
  return {{"random", randomKindNames[index]}, {"dtype", name(init.dtype)}, {"seed", init.seed}};
}

Json bufferToJson(const Buffer &buffer) {
  Json json = {{"bytes", buffer.bytes},
               {"role", bufferRoleNames[static_cast<std::size_t>(buffer.role)]},
               {"init", initToJson(buffer.init)}};
  if (buffer.dtype) {
    json["dtype"] = name(*buffer.dtype);
  }
  if (!buffer.shape.empty()) {
    json["shape"] = buffer.shape;
  }
  if (!buffer.save.empty()) {
    json["save"] = buffer.save;
  }
  return json;
}

std::string hexOf(const std::vector<std::uint8_t> &bytes) {
  std::string text;
  for (const std::uint8_t byte : bytes) {
    text += fmt::format("{:02x}", byte);
  }
  return text;
}

struct ValueToJson {
  Json operator()(const BufferArgument &argument) const {
    return {{"kind", "buffer"}, {"buffer", argument.buffer}, {"at", argument.at}};
  }
  Json operator()(const NullArgument & /*unused*/) const { return {{"kind", "null"}}; }
  Json operator()(const ValueArgument &argument) const {
    if (!argument.type) {
      return {{"kind", "bytes"}, {"value", hexOf(argument.bytes)}};
    }
    return {{"kind", name(*argument.type)},
            {"value", decodeScalar(*argument.type, argument.bytes)}};
  }
};

Json argumentToJson(const Argument &argument) {
  Json json = std::visit(ValueToJson{}, argument.value);
  if (argument.offset) {
    json["offset"] = *argument.offset;
  }
  return json;
}

Json launchToJson(const Launch &launch) {
  Json arguments = Json::array();
  for (const Argument &argument : launch.arguments) {
    arguments.push_back(argumentToJson(argument));
  }
  return {{"kernel", launch.kernel},
          {"grid", launch.grid},
          {"block", launch.block},
          {"dynamic_lds", launch.dynamicLds},
          {"args", std::move(arguments)}};
}

} // namespace

const Buffer *Manifest::findBuffer(std::string_view name) const {
  const auto found = std::find_if(buffers.begin(), buffers.end(),
                                  [&](const Buffer &buffer) { return buffer.name == name; });
  return found == buffers.end() ? nullptr : &*found;
}

Json toJson(const Manifest &manifest) {
  Json json = {{"version", 1},
               {"code_object", manifest.codeObject},
               {"buffers", Json::object()},
               {"launches", Json::array()}};
  for (const Buffer &buffer : manifest.buffers) {
    json["buffers"][buffer.name] = bufferToJson(buffer);
  }
  for (const Launch &launch : manifest.launches) {
    json["launches"].push_back(launchToJson(launch));
  }
  if (!manifest.guards.empty()) {
    json["guards"] = manifest.guards;
  }
  for (const auto &[key, text] :
       {std::pair{"problem", &manifest.problem}, std::pair{"schedule", &manifest.schedule},
        std::pair{"target", &manifest.target}}) {
    if (!text->empty()) {
      json[key] = *text;
    }
  }
  return json;
}

} // namespace kw
