// Kernelwright
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "experiments/inductor/LookupTable.h"

#include "costmodel/CostModel.h"
#include "experiments/inductor/LookupRow.h"
#include "experiments/support/DocumentCalibration.h"
#include "ir/Generator.h"
#include "ir/Rule.h"

#include <algorithm>
#include <cmath>
#include <fmt/format.h>
#include <map>
#include <set>

namespace kw {
namespace {

using json = nlohmann::json; // keys sorted: the order of the file

constexpr std::string_view file = "lookup_table.json";

std::string lie(std::string_view what) { return fmt::format("{}: {}", file, what); }
std::string lie(std::string_view key, std::string_view what) {
  return fmt::format("{}: '{}': {}", file, key, what);
}
std::string lie(std::string_view key, std::size_t row, std::string_view what) {
  return fmt::format("{}: '{}'[{}]: {}", file, key, row, what);
}

// ---- Writing ----

struct PlacedRow {
  json row;
  Json note;
};
using Rows = std::map<std::string, std::vector<PlacedRow>>;

Estimate estimateOf(const LookupEntry &entry, const Target &target) {
  return CostModel(entry.problem, target, entry.calibration).estimate(entry.schedule);
}

Json noteOf(const LookupEntry &entry, const Target &target) {
  const Estimate estimate = estimateOf(entry, target);
  return {{"key", ""},
          {"row", 0},
          {"problem", print(entry.problem)},
          {"schedule", print(entry.schedule)},
          {"time_us", entry.timeUs},
          {"source", entry.source},
          {"interval_us", {entry.lowUs, entry.highUs}},
          {"limiter", entry.limiter},
          {"calibration", toJson(entry.calibration)},
          {"lds_bytes", estimate.ldsBytes},
          {"vgpr", estimate.vgpr},
          {"agpr", estimate.agpr},
          {"occupancy", estimate.occupancy}};
}

std::vector<std::string> keysOf(const InductorCall &call, const Target &target, LookupKeys keys) {
  std::vector<std::string> list;
  if (keys != LookupKeys::agnostic) {
    list.push_back(lookupKey(call, deviceKey(target)));
  }
  if (keys != LookupKeys::device) {
    list.push_back(lookupKey(call, ""));
  }
  return list;
}

Expected<InductorCall> rowCall(const LookupEntry &entry, const Target &target,
                               std::string_view boundTorch) {
  const auto refuse = [&](std::string_view what) {
    return badInput(fmt::format("{} with {} is no row of Inductor's lookup table: {}",
                                print(entry.problem), print(entry.schedule), what));
  };
  if (kindOf(entry.schedule).generator != Generator::triton) {
    return refuse("its schedule is not of the generator triton");
  }
  Expected<InductorCall> call = inductorCall(entry.problem);
  if (!call) {
    return call;
  }
  const std::vector<Violation> violations = checkLegal(entry.problem, entry.schedule, target);
  if (!violations.empty()) {
    return refuse(violations.front().message);
  }
  if (!boundTorch.empty() && templateHash(boundTorch, call->op).empty()) {
    return refuse(fmt::format("the hash of the template of {} in torch {} is not known; known: {}",
                              call->op, boundTorch, knownTorchVersions()));
  }
  return call;
}

LookupTable tableOf(const Rows &rows, bool atenFallback) {
  LookupTable table;
  json document = json::object();
  for (const auto &[key, placed] : rows) {
    for (std::size_t i = 0; i < placed.size(); ++i) {
      document[key].push_back(placed[i].row);
      Json note = placed[i].note;
      note["key"] = key;
      note["row"] = i;
      table.notes.push_back(std::move(note));
    }
    if (atenFallback) {
      document[key].push_back(atenRow(parseLookupKey(key)->call));
    }
  }
  table.text = document.dump(2) + "\n";
  return table;
}

// ---- Proving ----

/// The document, or what is wrong with its text: a key twice is an error that parsers hide.
struct ParsedTable {
  json document;
  std::string lie;
};

ParsedTable parseTable(const std::string &text) {
  ParsedTable table;
  std::vector<std::set<std::string>> seen;
  const auto watch = [&](int, json::parse_event_t event, json &value) {
    if (event == json::parse_event_t::object_start) {
      seen.emplace_back();
    } else if (event == json::parse_event_t::object_end) {
      seen.pop_back();
    } else if (event == json::parse_event_t::key &&
               !seen.back().insert(value.get<std::string>()).second && table.lie.empty()) {
      table.lie = lie(fmt::format("the key '{}' stands twice", value.get<std::string>()));
    }
    return true;
  };
  table.document = json::parse(text, watch, /*allow_exceptions=*/false);
  if (table.document.is_discarded()) {
    table.lie = lie("is not JSON");
  } else if (!table.document.is_object()) {
    table.lie = lie("is not a JSON object");
  } else if (table.lie.empty() && table.document.dump(2) + "\n" != text) {
    table.lie = lie("is not in the form that it was written in: written again it differs");
  }
  return table;
}

std::string keyLie(const std::string &key, const json &rows, const Target &target,
                   std::string_view boundTorch) {
  const Expected<ParsedKey> parsed = parseLookupKey(key);
  if (!parsed) {
    return lie(key, parsed.error().message);
  }
  if (!parsed->device.empty() && parsed->device != deviceKey(target)) {
    return lie(key, fmt::format("is for the device {}, the bundle for {}", parsed->device,
                                deviceKey(target)));
  }
  if (lookupKey(parsed->call, parsed->device) != key) {
    return lie(key,
               "is not spelled as Inductor spells it: " + lookupKey(parsed->call, parsed->device));
  }
  if (!rows.is_array() || rows.empty()) {
    return lie(key, "has no list of rows: Inductor would find nothing");
  }
  for (std::size_t i = 0; i < rows.size(); ++i) {
    if (const std::string found = rowLie(parsed->call, rows[i], target, boundTorch);
        !found.empty()) {
      return lie(key, i, found);
    }
    if (rows[i] == atenRow(parsed->call) && (rows.size() == 1 || i + 1 != rows.size())) {
      return lie(key, i, "ATen stands alone or not last");
    }
  }
  return {};
}

std::string noteFail(std::string_view what) { return fmt::format("bundle.json: lookup: {}", what); }

/// Fields and types of a note.
std::string noteFormLie(const Json &note) {
  static const std::set<std::string> names{"key",       "row",    "problem",     "schedule",
                                           "time_us",   "source", "interval_us", "limiter",
                                           "lds_bytes", "vgpr",   "agpr",        "occupancy"};
  if (!note.is_object()) {
    return noteFail("a note is no object");
  }
  for (const std::string &name : names) {
    if (!note.contains(name)) {
      return noteFail(fmt::format("field '{}' is missing", name));
    }
  }
  for (const auto &[name, value] : note.items()) {
    if (!names.contains(name) && name != "calibration") { // earlier bundles have none
      return noteFail(fmt::format("unknown field '{}'", name));
    }
  }
  for (const char *name : {"key", "problem", "schedule", "source", "limiter"}) {
    if (!note[name].is_string()) {
      return noteFail(fmt::format("{} is no string", name));
    }
  }
  const Json &interval = note["interval_us"];
  const bool numbers = note["row"].is_number_unsigned() && note["time_us"].is_number() &&
                       interval.is_array() && interval.size() == 2 && interval[0].is_number() &&
                       interval[1].is_number();
  return numbers ? "" : noteFail("row, time_us or interval_us is no number");
}

/// The prediction: rows are ranked by the model alone, which is asked again.
std::string predictionLie(const Json &note, const LookupEntry &entry, const Target &target,
                          bool sameModel) {
  const std::string where =
      fmt::format("of '{}'[{}]", note["key"].get<std::string>(), note["row"].get<std::size_t>());
  const Json &interval = note["interval_us"];
  const double time = note["time_us"].get<double>();
  if (note["source"] != "model") {
    return noteFail(fmt::format("source is '{}'; rows are ranked by the model alone",
                                note["source"].get<std::string>()));
  }
  if (!(time > 0) || interval[0].get<double>() > time || interval[1].get<double>() < time) {
    return noteFail(fmt::format("time_us {} is not positive or outside interval_us", where));
  }
  if (!sameModel) {
    return {};
  }
  const Estimate estimate = estimateOf(entry, target);
  const auto differs = [](double claimed, double truth) {
    return std::abs(claimed - truth) > 1e-6 * truth;
  };
  if (differs(time, estimate.timeUs)) {
    return noteFail(
        fmt::format("time_us {} is {} by the model, not {}", where, estimate.timeUs, time));
  }
  if (differs(interval[0].get<double>(), estimate.lowUs) ||
      differs(interval[1].get<double>(), estimate.highUs)) {
    return noteFail(fmt::format("interval_us {} is [{}, {}] by the model, not {}", where,
                                estimate.lowUs, estimate.highUs, interval.dump()));
  }
  const Json truth = noteOf(entry, target);
  for (const char *name : {"lds_bytes", "vgpr", "agpr", "occupancy"}) {
    if (note[name] != truth[name]) {
      return noteFail(
          fmt::format("{} {} is {}, not {}", name, where, truth[name].dump(), note[name].dump()));
    }
  }
  return note["limiter"] == name(estimate.limiter)
             ? ""
             : noteFail(fmt::format("limiter {} is {}, not {}", where, name(estimate.limiter),
                                    note["limiter"].dump()));
}

/// A note against its row: both follow from its problem and schedule.
std::string noteLie(const Json &note, const json &document, const Target &target,
                    std::string_view boundTorch, bool sameModel) {
  if (std::string found = noteFormLie(note); !found.empty()) {
    return found;
  }
  const auto key = note["key"].get<std::string>();
  const auto row = note["row"].get<std::size_t>();
  if (!document.contains(key) || row >= document[key].size()) {
    return noteFail(fmt::format("'{}'[{}] is no row of {}", key, row, file));
  }
  const Expected<Problem> problem = parseProblem(note["problem"].get<std::string>());
  const Expected<Schedule> schedule = parseSchedule(note["schedule"].get<std::string>());
  if (!problem || !schedule) {
    return noteFail((problem ? schedule.error() : problem.error()).message);
  }
  const Expected<ProblemCalibration> calibration = calibrationOf(note);
  if (!calibration) {
    return noteFail(calibration.error().message);
  }
  const LookupEntry entry{*problem, *schedule, 0, "", 0, 0, "", *calibration};
  const Expected<InductorCall> call = rowCall(entry, target, boundTorch);
  if (!call) {
    return noteFail(call.error().message);
  }
  if (*call != parseLookupKey(key)->call) {
    return noteFail(fmt::format("'{}' is not the key of {}", key, print(*problem)));
  }
  if (document[key][row] != lookupRow(*call, std::get<TritonGemmSchedule>(*schedule), boundTorch)) {
    return lie(key, row, fmt::format("is not the row of {}", print(*schedule)));
  }
  return predictionLie(note, entry, target, sameModel);
}

/// One note for each row that is not ATen's, in the order of keys and rows.
std::string notesLie(const Json &notes, const json &document, const Target &target,
                     std::string_view boundTorch, bool sameModel) {
  if (!notes.is_array()) {
    return "bundle.json: lookup is no array";
  }
  std::size_t next = 0;
  for (const auto &[key, rows] : document.items()) {
    const json aten = atenRow(parseLookupKey(key)->call);
    for (std::size_t i = 0; i < rows.size() && rows[i] != aten; ++i, ++next) {
      if (next >= notes.size()) {
        return lie(key, i, "is not in bundle.json");
      }
      if (std::string found = noteLie(notes[next], document, target, boundTorch, sameModel);
          !found.empty()) {
        return found;
      }
      if (notes[next]["key"] != key || notes[next]["row"] != i) {
        return fmt::format("bundle.json: lookup[{}] is not that of '{}'[{}]", next, key, i);
      }
    }
  }
  return next == notes.size() ? "" : "bundle.json: lookup has more notes than the table has rows";
}

} // namespace

Expected<LookupKeys> parseLookupKeys(std::string_view text) {
  if (text == "device") {
    return LookupKeys::device;
  }
  if (text == "agnostic") {
    return LookupKeys::agnostic;
  }
  if (text == "both") {
    return LookupKeys::both;
  }
  return badInput(fmt::format("unknown keys '{}', expected device, agnostic or both", text));
}

Expected<LookupTable> makeLookupTable(std::span<const LookupEntry> entries, const Target &target,
                                      const LookupOptions &options) {
  if (entries.empty()) {
    return LookupTable();
  }
  Rows rows;
  for (const LookupEntry &entry : entries) {
    const Expected<InductorCall> call = rowCall(entry, target, options.boundTorch);
    if (!call) {
      return tl::unexpected(call.error());
    }
    const json row =
        lookupRow(*call, std::get<TritonGemmSchedule>(entry.schedule), options.boundTorch);
    for (const std::string &key : keysOf(*call, target, options.keys)) {
      std::vector<PlacedRow> &placed = rows[key];
      if (std::ranges::find(placed, row, &PlacedRow::row) == placed.end()) {
        placed.push_back({row, noteOf(entry, target)});
      }
    }
  }
  LookupTable table = tableOf(rows, options.atenFallback);
  table.boundTorch = options.boundTorch;
  if (const std::string found =
          lookupLie(table.text, table.notes, target, options.boundTorch, true);
      !found.empty()) {
    return failed("nothing is written, because it would be wrong: " + found);
  }
  return table;
}

std::string lookupLie(const std::string &text, const Json &notes, const Target &target,
                      std::string_view boundTorch, bool sameModel) {
  const ParsedTable table = parseTable(text);
  if (!table.lie.empty()) {
    return table.lie;
  }
  for (const auto &[key, rows] : table.document.items()) {
    if (std::string found = keyLie(key, rows, target, boundTorch); !found.empty()) {
      return found;
    }
  }
  return notesLie(notes, table.document, target, boundTorch, sameModel);
}

} // namespace kw
