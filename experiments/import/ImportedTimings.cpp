// Kernelwright
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "experiments/import/ImportedTimings.h"

#include "costmodel/foreign/MeasuredRows.h"
#include "costmodel/foreign/MeasuredTimes.h"
#include "ir/Problem.h"
#include "ir/Schedule.h"
#include "ir/Target.h"

#include <fmt/format.h>

namespace kw {
namespace {

Json optionalJson(const std::optional<int> &value) { return value ? Json(*value) : Json(); }

Json kernelJson(const KernelText &kernel) {
  Json json{{"generator", kernel.generator},
            {"name", kernel.name},
            {"tile",
             {optionalJson(kernel.tileM), optionalJson(kernel.tileN), optionalJson(kernel.tileK)}},
            {"split_k", optionalJson(kernel.splitK)}};
  if (kernel.threads) { // no key without: the keys of timings that are stored already stay
    json["threads"] = *kernel.threads;
  }
  return json;
}

Json kernelsJson(const MeasuredRow &row) {
  Json kernels = Json::array();
  for (const KernelText &kernel : row.kernels) {
    kernels.push_back(kernelJson(kernel));
  }
  return kernels;
}

KernelText storedKernel(const Json &json) {
  const auto number = [](const Json &value) {
    return value.is_null() ? std::nullopt : std::optional(value.get<int>());
  };
  const Json &tile = json.at("tile");
  return {json.at("generator"),      json.at("name"),    number(tile.at(0)),
          number(tile.at(1)),        number(tile.at(2)), number(json.value("threads", Json())),
          number(json.at("split_k"))};
}

/// The keys under which the store has a row's numbers, in their order.
template <typename Row, typename Visit> void eachField(Row &row, Visit visit) {
  using Plain = std::remove_const_t<Row>;
  if constexpr (std::is_same_v<Plain, GemmRow>) {
    visit("m", row.m);
    visit("n", row.n);
    visit("k", row.k);
    visit("batch", row.batch);
    visit("preshuffle", row.preshuffle);
    visit("bias", row.bias);
  } else if constexpr (std::is_same_v<Plain, MoeRow>) {
    visit("tokens", row.tokens);
    visit("model_dim", row.modelDim);
    visit("inter_dim", row.interDim);
    visit("experts", row.experts);
    visit("topk", row.topk);
    visit("activation", row.activation);
    visit("gated", row.gated);
    visit("block_m", row.blockM);
  } else if constexpr (std::is_same_v<Plain, AttentionRow>) {
    visit("b", row.batch);
    visit("hq", row.queryHeads);
    visit("hkv", row.keyHeads);
    visit("sq", row.queries);
    visit("skv", row.keys);
    visit("d", row.headDim);
    visit("causal", row.causal);
  } else {
    visit("op", row.op);
    visit("gfx", row.gfx);
    visit("cus", row.cus);
    visit("dtype_a", row.typeA);
    visit("dtype_b", row.typeB);
    visit("dtype_out", row.typeOut);
    visit("scale", row.scale);
    visit("layout", row.layout);
  }
}

template <typename Row> void writeFields(const Row &row, Json &json) {
  eachField(row, [&](const char *key, const auto &value) { json[key] = value; });
}
template <typename Row> void readFields(Row &row, const Json &json) {
  eachField(row, [&](const char *key, auto &value) { json.at(key).get_to(value); });
}

Json problemJson(const MeasuredRow &row) {
  Json json = Json::object();
  writeFields(row, json);
  switch (row.kind) {
  case RowKind::gemm:
    writeFields(row.gemm, json);
    break;
  case RowKind::moe:
    writeFields(row.moe, json);
    json["stage"] = row.moe.oneStage ? "one" : fmt::format("{}", row.moe.stage);
    break;
  case RowKind::attention:
    writeFields(row.attention, json);
    break;
  }
  return json;
}

/// Equal timings of the same thing from the same place are one.
std::string keyOf(const Json &problem, const Json &kernels, double us, const std::string &origin) {
  return printJson({problem, kernels, us, origin});
}

ImportedTiming timingOf(const Json &problem, const Json &kernels, double us,
                        const std::string &origin) {
  ImportedTiming timing;
  timing.key = keyOf(problem, kernels, us, origin);
  timing.origin = origin;
  timing.value = {{"time_us", us},
                  {"source", "imported"},
                  {"origin", origin},
                  {"problem", problem},
                  {"kernels", kernels}};
  return timing;
}

Expected<ImportedTable> publishedTimings(const TextTable &table) {
  const auto rows = measuredRows(table);
  if (!rows) {
    return tl::unexpected(rows.error());
  }
  const std::vector<MeasuredTime> times = measuredTimes(table);
  ImportedTable result;
  for (std::size_t i = 0; i < rows->size(); ++i) {
    const MeasuredRow &row = (*rows)[i];
    if (!row.damage.empty() || !times[i].us) {
      result.bad.push_back(
          {table.lineNumber(i), row.damage.empty() ? "column us: not a time above 0" : row.damage});
      continue;
    }
    ImportedTiming timing =
        timingOf(problemJson(row), kernelsJson(row), *times[i].us, times[i].origin);
    timing.value["flags"] = times[i].flags;
    result.timings.push_back(std::move(timing));
  }
  return result;
}

/// Cells of one row of our own format, by name; empty where there is no such column.
Expected<ImportedTiming> ownTiming(const TextTable &table, std::size_t row) {
  const std::vector<std::string> cells = table.cells(row);
  const auto cell = [&](std::string_view name) {
    const auto at = table.column(name);
    return at ? cells[*at] : std::string();
  };
  if (const std::string damage = table.damage(row); !damage.empty()) {
    return badInput(damage);
  }
  const auto problem = parseProblem(cell("problem"));
  if (!problem) {
    return badInput("column problem: " + problem.error().message);
  }
  Json kernel{{"schedule", nullptr}, {"name", cell("kernel")}, {"device", cell("device")}};
  if (const std::string target = cell("target"); !target.empty()) {
    if (const auto known = findTarget(target); !known) {
      return badInput("column target: " + known.error().message);
    }
    kernel["target"] = target;
  }
  if (const std::string text = cell("schedule"); !text.empty()) {
    const auto schedule = parseSchedule(text);
    if (!schedule) {
      return badInput("column schedule: " + schedule.error().message);
    }
    kernel["schedule"] = print(*schedule);
  }
  const auto us = numberIn(cell("time_us"));
  if (!us || *us <= 0) {
    return badInput("column time_us: not a time above 0");
  }
  const std::string origin = cell("origin").empty() ? table.name() : cell("origin");
  return timingOf(print(*problem), Json::array({kernel}), *us,
                  cell("date").empty() ? origin : origin + " " + cell("date"));
}

} // namespace

std::string identityOf(const MeasuredRow &row) {
  return printJson({problemJson(row), kernelsJson(row)});
}

Expected<MeasuredRow> storedRow(const Json &value) try {
  const Json &problem = value.at("problem");
  MeasuredRow row;
  readFields(row, problem);
  if (problem.contains("m")) {
    row.kind = RowKind::gemm;
    readFields(row.gemm, problem);
  } else if (problem.contains("tokens")) {
    row.kind = RowKind::moe;
    readFields(row.moe, problem);
    const std::string stage = problem.at("stage");
    row.moe.oneStage = stage == "one";
    row.moe.stage = row.moe.oneStage ? 0 : std::stoi(stage);
  } else {
    row.kind = RowKind::attention;
    readFields(row.attention, problem);
  }
  for (const Json &kernel : value.at("kernels")) {
    row.kernels.push_back(storedKernel(kernel));
  }
  return row.kernels.empty() ? Expected<MeasuredRow>(badInput("no kernel")) : row;
} catch (const std::exception &e) { // std::stoi of a stage, too
  return badInput(fmt::format("not a published row: {}", e.what()));
}

Expected<ImportedTable> importedTimings(const TextTable &table, ImportFormat format) {
  const bool own = table.column("problem") && table.column("time_us");
  if (format == ImportFormat::aiter || (format == ImportFormat::automatic && !own)) {
    return publishedTimings(table);
  }
  if (!own) {
    return badInput(
        fmt::format("{}: --format kw needs the columns problem and time_us", table.name()));
  }
  ImportedTable result;
  for (std::size_t i = 0; i < table.rows(); ++i) {
    auto timing = ownTiming(table, i);
    if (timing) {
      result.timings.push_back(std::move(*timing));
    } else {
      result.bad.push_back({table.lineNumber(i), timing.error().message});
    }
  }
  return result;
}

} // namespace kw
