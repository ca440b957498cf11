// Kernelwright
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "ir/Schedule.h"

#include "ir/Decision.h"
#include "ir/support/KeyValues.h"
#include "ir/support/TextList.h"

namespace kw {
namespace {

/// Decisions that are printed as one key: a run of neighbours of the table.
using KeyGroup = std::span<const Decision>;

std::vector<KeyGroup> keyGroups(ScheduleKind kind) {
  std::vector<KeyGroup> groups;
  const std::span<const Decision> all = decisions(kind);
  for (std::size_t begin = 0, end = 0; begin < all.size(); begin = end) {
    while (end < all.size() && all[end].key == all[begin].key) {
      ++end;
    }
    groups.push_back(all.subspan(begin, end - begin));
  }
  return groups;
}

std::string accepts(KeyGroup group) {
  std::string text;
  for (const Decision &decision : group) {
    text += text.empty() ? "" : " x ";
    text += decision.names.empty()
                ? std::to_string(decision.lowest) + ".." + std::to_string(decision.highest)
                : joined(decision.names, " ");
  }
  return text;
}

std::vector<Key> keysOf(const std::vector<KeyGroup> &groups) {
  std::vector<Key> keys;
  for (KeyGroup group : groups) {
    keys.push_back({group.front().key, accepts(group)});
  }
  return keys;
}

void readGroup(KeyValues &values, KeyGroup group, Schedule &schedule) {
  const std::string_view key = group.front().key;
  const auto text = values.text(key);
  if (!text) {
    return;
  }
  const std::vector<std::string_view> parts = split(*text, 'x');
  // Names may hold an x; only numbers are joined.
  const bool whole = group.size() == 1;
  if (!whole && parts.size() != group.size()) {
    return values.reject(key);
  }
  for (std::size_t i = 0; i < group.size(); ++i) {
    const auto value = group[i].parse(whole ? *text : parts[i]);
    if (!value) {
      return values.reject(key);
    }
    group[i].set(schedule, *value);
  }
}

Expected<Schedule> readSchedule(ScheduleKind kind, std::string_view list) {
  const std::vector<KeyGroup> groups = keyGroups(kind);
  const std::vector<Key> keys = keysOf(groups);
  const std::vector<std::string_view> items =
      list.empty() ? std::vector<std::string_view>() : split(list, ',');
  KeyValues values(formatOf(kind), items, keys);
  Schedule schedule = defaultSchedule(kind);
  for (KeyGroup group : groups) {
    readGroup(values, group, schedule);
  }
  if (values.complaint()) {
    return tl::unexpected(*values.complaint());
  }
  return schedule;
}

std::string knownFormats() {
  std::vector<std::string_view> names;
  for (ScheduleKind kind : scheduleKinds()) {
    names.push_back(formatOf(kind));
  }
  return joined(names, " ");
}

} // namespace

Expected<Schedule> parseSchedule(std::string_view text) {
  if (text.empty()) {
    return badInput("empty schedule; accepted: FAMILY.VERSION:key=value,... with " +
                    knownFormats());
  }
  const std::size_t colon = text.find(':');
  const std::string_view prefix = text.substr(0, colon);
  for (ScheduleKind kind : scheduleKinds()) {
    if (formatOf(kind) == prefix) {
      return readSchedule(kind, colon == std::string_view::npos ? "" : text.substr(colon + 1));
    }
  }
  return badInput("unknown schedule format " + quoted(prefix) + "; accepted: " + knownFormats() +
                  ", as in gemm.1:tile=128x128x64");
}

std::string print(const Schedule &schedule) {
  const Schedule standard = defaultSchedule(kindOf(schedule));
  KeyPrinter printer(',');
  for (KeyGroup group : keyGroups(kindOf(schedule))) {
    std::string value;
    bool differs = false;
    for (const Decision &decision : group) {
      value += value.empty() ? "" : "x";
      value += decision.format(decision.get(schedule));
      differs |= decision.get(schedule) != decision.get(standard);
    }
    if (differs) {
      printer.add(group.front().key, value);
    }
  }
  return std::string(formatOf(kindOf(schedule))) + ":" + printer.text();
}

} // namespace kw
