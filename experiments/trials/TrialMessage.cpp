// Kernelwright
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "experiments/trials/TrialMessage.h"

#include "ir/support/JsonReader.h"

#include <array>
#include <cmath>
#include <fmt/format.h>
#include <limits>

namespace kw {

namespace {

constexpr std::array allRungs = {Rung::model, Rung::compiled, Rung::validated, Rung::simulated,
                                 Rung::measured};
constexpr std::array allStates = {
    TrialState::ok,    TrialState::illegal, TrialState::compileFailed, TrialState::spilled,
    TrialState::wrong, TrialState::crashed, TrialState::timeout,       TrialState::failed};

template <typename Values>
auto byName(const Values &values, std::string_view text)
    -> std::optional<typename Values::value_type> {
  for (const auto value : values) {
    if (name(value) == text) {
      return value;
    }
  }
  return std::nullopt;
}

void readRungs(const JsonReader &reader, std::vector<Rung> &rungs) {
  for (const JsonReader &element : reader.elements()) {
    const std::string text = element.string();
    if (const std::optional<Rung> rung = parseRung(text)) {
      rungs.push_back(*rung);
    } else {
      element.complain(fmt::format("unknown rung {}, expected model, compiled, validated, "
                                   "simulated or measured",
                                   quotedText(text)));
    }
  }
}

void readLimits(const JsonReader &reader, TrialLimits &limits) {
  reader.allowOnly({"seconds", "memory_mb"});
  if (reader.has("seconds")) {
    const JsonReader seconds = reader.at("seconds");
    if (seconds.json().is_number() && seconds.json().get<double>() > 0) {
      limits.seconds = std::min(seconds.json().get<double>(), 1e6);
    } else {
      seconds.complain("expected a positive number");
    }
  }
  if (reader.has("memory_mb")) {
    limits.memoryMb = reader.at("memory_mb").integer(1, std::int64_t{1} << 40);
  }
}

} // namespace

std::optional<Rung> parseRung(std::string_view text) { return byName(allRungs, text); }

std::optional<TrialState> parseTrialState(std::string_view text) { return byName(allStates, text); }

std::string printRequest(const TrialRequest &request) {
  Json rungs = Json::array();
  for (const Rung rung : request.rungs) {
    rungs.push_back(name(rung));
  }
  Json json = {{"id", Json::parse(request.id, nullptr, false)},
               {"problem", request.problem},
               {"schedule", request.schedule},
               {"target", request.target},
               {"rungs", std::move(rungs)},
               {"seed", request.seed},
               {"limits", {{"seconds", request.limits.seconds}}}};
  if (request.limits.memoryMb > 0) {
    json["limits"]["memory_mb"] = request.limits.memoryMb;
  }
  if (!request.manifest.empty()) {
    json["manifest"] = request.manifest;
  }
  return printJson(json);
}

std::string requestId(std::string_view line) {
  const Json json = Json::parse(line, nullptr, /*allow_exceptions=*/false);
  const auto id = json.is_object() ? json.find("id") : json.end();
  return id != json.end() ? id->dump() : "null";
}

Expected<TrialRequest> parseRequest(std::string_view line) {
  const Expected<nlohmann::json> json = parseJson(line, "trial");
  if (!json) {
    return tl::unexpected(json.error());
  }
  std::optional<Error> complaint;
  const JsonReader reader(*json, "", complaint);
  reader.allowOnly({"id", "problem", "schedule", "target", "rungs", "seed", "limits", "manifest"});
  TrialRequest request;
  if (reader.has("id")) {
    request.id = reader.at("id").json().dump();
  } else {
    request.id = "null";
  }
  request.problem = reader.at("problem").string();
  request.schedule = reader.at("schedule").string();
  if (reader.has("target")) {
    request.target = reader.at("target").string();
  }
  if (reader.has("rungs")) {
    readRungs(reader.at("rungs"), request.rungs);
  } else {
    request.rungs = {Rung::compiled, Rung::validated};
  }
  if (reader.has("seed")) {
    request.seed = static_cast<std::uint64_t>(
        reader.at("seed").integer(0, std::numeric_limits<std::int64_t>::max()));
  }
  if (reader.has("limits")) {
    readLimits(reader.at("limits"), request.limits);
  }
  if (reader.has("manifest")) {
    request.manifest = reader.at("manifest").string();
  }
  if (complaint) {
    return tl::unexpected(*complaint);
  }
  return request;
}

std::string printAnswer(const TrialAnswer &answer) {
  const auto textOrNull = [](const std::string &text) {
    return text.empty() ? Json() : Json(text);
  };
  return printJson({{"id", Json::parse(answer.id, nullptr, false)},
                    {"state", name(answer.state)},
                    {"error", textOrNull(answer.error)},
                    {"rungs", answer.rungs},
                    {"hsaco", textOrNull(answer.hsaco)}});
}

Expected<TrialAnswer> parseAnswer(std::string_view line) {
  const Json json = Json::parse(line, nullptr, /*allow_exceptions=*/false);
  const auto textOf = [&](const char *key) {
    const auto found = json.find(key);
    return found != json.end() && found->is_string() ? found->get<std::string>() : std::string();
  };
  if (!json.is_object() || !json.contains("id")) {
    return failed("is not the answer of a trial");
  }
  const std::optional<TrialState> state = parseTrialState(textOf("state"));
  if (!state) {
    return failed("is not the answer of a trial: no state");
  }
  TrialAnswer answer;
  answer.id = json["id"].dump();
  answer.state = *state;
  answer.error = textOf("error");
  if (json.contains("rungs") && json["rungs"].is_object()) {
    answer.rungs = json["rungs"];
  }
  answer.hsaco = textOf("hsaco");
  return answer;
}

} // namespace kw
