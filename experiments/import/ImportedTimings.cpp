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

GemmRow storedGemm(const Json &json) {
  return {json.at("m"),     json.at("n"),          json.at("k"),
          json.at("batch"), json.at("preshuffle"), json.at("bias")};
}

MoeRow storedMoe(const Json &json) {
  MoeRow moe{json.at("tokens"), json.at("model_dim"),  json.at("inter_dim"), json.at("experts"),
             json.at("topk"),   json.at("activation"), json.at("gated"),     json.at("block_m")};
  const std::string stage = json.at("stage");
  moe.oneStage = stage == "one";
  moe.stage = moe.oneStage ? 0 : std::stoi(stage);
  return moe;
}

AttentionRow storedAttention(const Json &json) {
  return {json.at("b"),   json.at("hq"), json.at("hkv"),   json.at("sq"),
          json.at("skv"), json.at("d"),  json.at("causal")};
}

Json problemJson(const MeasuredRow &row) {
  Json json{{"op", row.op},         {"gfx", row.gfx},       {"cus", row.cus},
            {"dtype_a", row.typeA}, {"dtype_b", row.typeB}, {"dtype_out", row.typeOut},
            {"scale", row.scale},   {"layout", row.layout}};
  switch (row.kind) {
  case RowKind::gemm:
    json.update({{"m", row.gemm.m},
                 {"n", row.gemm.n},
                 {"k", row.gemm.k},
                 {"batch", row.gemm.batch},
                 {"preshuffle", row.gemm.preshuffle},
                 {"bias", row.gemm.bias}});
    break;
  case RowKind::moe:
    json.update({{"tokens", row.moe.tokens},
                 {"model_dim", row.moe.modelDim},
                 {"inter_dim", row.moe.interDim},
                 {"experts", row.moe.experts},
                 {"topk", row.moe.topk},
                 {"activation", row.moe.activation},
                 {"gated", row.moe.gated},
                 {"block_m", row.moe.blockM},
                 {"stage", row.moe.oneStage ? "one" : fmt::format("{}", row.moe.stage)}});
    break;
  case RowKind::attention:
    json.update({{"b", row.attention.batch},
                 {"hq", row.attention.queryHeads},
                 {"hkv", row.attention.keyHeads},
                 {"sq", row.attention.queries},
                 {"skv", row.attention.keys},
                 {"d", row.attention.headDim},
                 {"causal", row.attention.causal}});
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

std::string familyOf(const MeasuredRow &row) {
  return row.kind == RowKind::gemm  ? "gemm"
         : row.kind == RowKind::moe ? "grouped_gemm"
                                    : "attention";
}

std::string groupOf(const MeasuredRow &row) {
  switch (row.kind) {
  case RowKind::gemm:
    return fmt::format("{}x{}", row.gemm.n, row.gemm.k);
  case RowKind::moe:
    return fmt::format("{}x{}", row.moe.modelDim, row.moe.interDim);
  case RowKind::attention:
    break;
  }
  const AttentionRow &shape = row.attention;
  return fmt::format("{}x{}x{}", shape.queries, shape.keys, shape.headDim);
}

Expected<MeasuredRow> storedRow(const Json &value) try {
  const Json &problem = value.at("problem");
  MeasuredRow row;
  row.op = problem.at("op");
  row.gfx = problem.at("gfx");
  row.cus = problem.at("cus");
  row.typeA = problem.at("dtype_a");
  row.typeB = problem.at("dtype_b");
  row.typeOut = problem.at("dtype_out");
  row.scale = problem.at("scale");
  row.layout = problem.at("layout");
  if (problem.contains("m")) {
    row.kind = RowKind::gemm;
    row.gemm = storedGemm(problem);
  } else if (problem.contains("tokens")) {
    row.kind = RowKind::moe;
    row.moe = storedMoe(problem);
  } else {
    row.kind = RowKind::attention;
    row.attention = storedAttention(problem);
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
