// Kernelwright
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "costmodel/foreign/MeasuredRows.h"

#include <algorithm>
#include <cmath>
#include <fmt/format.h>
#include <initializer_list>

namespace kw {
namespace {

/// The cells of one row by name of column.
class RowReader {
public:
  RowReader(const TextTable &table, std::vector<std::string> cells)
      : table(&table), cells(std::move(cells)) {}

  std::string text(std::string_view name) const {
    const auto at = table->column(name);
    return at ? cells[*at] : std::string();
  }
  /// The first of these columns that isn't empty.
  std::string anyText(std::initializer_list<std::string_view> names) const {
    for (const std::string_view name : names) {
      if (std::string cell = text(name); !cell.empty()) {
        return cell;
      }
    }
    return {};
  }
  std::optional<std::int64_t> whole(std::string_view name) const {
    const std::optional<double> value = numberIn(text(name));
    constexpr double most = 1e15;
    return value && std::abs(*value) < most ? std::optional(std::llround(*value)) : std::nullopt;
  }
  std::optional<int> count(std::string_view name) const {
    const std::optional<std::int64_t> value = whole(name);
    constexpr std::int64_t most = 1 << 20;
    return value && *value > 0 && *value <= most ? std::optional(static_cast<int>(*value))
                                                 : std::nullopt;
  }
  bool flag(std::string_view name) const { return whole(name).value_or(0) != 0; }
  /// A size that has to be there.
  std::int64_t size(std::string_view name) {
    const std::int64_t value = whole(name).value_or(0);
    constexpr std::int64_t most = (std::int64_t{1} << 31) - 1;
    if (value < 1 || value > most) {
      damage = fmt::format("column {}: not a size from 1 to 2^31-1", name);
    }
    return value;
  }

  std::string damage;

private:
  const TextTable *table;
  std::vector<std::string> cells;
};

KernelText kernelText(const RowReader &row, std::string_view suffix) {
  const auto named = [&](std::string_view name) { return fmt::format("{}{}", name, suffix); };
  KernelText kernel;
  kernel.generator = row.anyText(
      {named("kernel_family"), named("fam"), "kernel_family", "kernel_type", "lib", "impl"});
  kernel.name = row.anyText({named("kernel"), named("kernel_name"), "kernel_name", "kernel"});
  kernel.tileM = row.count(named("tile_m"));
  kernel.tileN = row.count(named("tile_n"));
  kernel.tileK = row.count(named("tile_k"));
  kernel.threads = row.count("block_threads");
  kernel.splitK = row.count("split_k");
  return kernel;
}

void readGemm(RowReader &row, MeasuredRow &result) {
  result.kind = RowKind::gemm;
  result.gemm = {row.size("M"),
                 row.size("N"),
                 row.size("K"),
                 std::max<std::int64_t>(1, row.whole("batch").value_or(1)),
                 row.flag("b_preshuffle"),
                 row.flag("bias")};
  result.typeB = row.text("dtype_b");
  result.scale = row.text("scale");
  result.kernels.push_back(kernelText(row, ""));
}

int stageOf(const std::string &stage) { return stage == "stage1" ? 1 : stage == "stage2" ? 2 : 0; }

void readMoe(RowReader &row, MeasuredRow &result) {
  result.kind = RowKind::moe;
  result.op = "moe";
  MoeRow &moe = result.moe;
  moe.tokens = row.size("token");
  moe.modelDim = row.size("model_dim");
  moe.interDim = row.size("inter_dim");
  moe.experts = row.size("expert");
  moe.topk = row.size("topk");
  moe.activation = row.anyText({"act", "act_type"});
  const std::string gated = row.anyText({"g1u1", "use_g1u1"});
  moe.gated = gated.empty() || gated != "0";
  moe.blockM = row.count("block_m").value_or(0);
  moe.stage = stageOf(row.text("stage"));
  moe.oneStage = row.flag("run_1stage") || row.text("stage").find("1stage") != std::string::npos;
  result.typeA = row.anyText({"dtype_a", "q_dtype_a"});
  result.typeB = row.anyText({"dtype_w", "q_dtype_w"});
  result.scale = row.text("q_type");
  result.typeOut = "bf16";
  if (moe.stage > 0 || !row.text("stage").empty()) {
    result.kernels.push_back(kernelText(row, ""));
    return;
  }
  result.kernels.push_back(kernelText(row, "1"));
  if (!moe.oneStage) {
    result.kernels.push_back(kernelText(row, "2"));
  }
}

void readAttention(RowReader &row, MeasuredRow &result) {
  result.kind = RowKind::attention;
  result.attention = {row.size("B"),   row.size("Hq"), row.size("Hkv"),   row.size("Sq"),
                      row.size("Skv"), row.size("D"),  row.flag("causal")};
  result.typeA = result.typeB = result.typeOut = row.text("dtype");
  result.kernels.push_back(kernelText(row, ""));
}

using Reader = void (*)(RowReader &, MeasuredRow &);

/// A format is known by the columns that only it has.
Reader readerOf(const TextTable &table) {
  const auto has = [&](std::initializer_list<std::string_view> names) {
    return std::ranges::all_of(names, [&](auto name) { return table.column(name).has_value(); });
  };
  return has({"token", "model_dim", "inter_dim", "expert", "topk"}) ? readMoe
         : has({"B", "Hq", "Hkv", "Sq", "Skv", "D"})                ? readAttention
         : has({"M", "N", "K", "dtype_a"})                          ? readGemm
                                                                    : nullptr;
}

} // namespace

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

Expected<std::vector<MeasuredRow>> measuredRows(const TextTable &table) {
  const Reader read = readerOf(table);
  if (read == nullptr) {
    return badInput(fmt::format("{}: unknown columns; accepted are tables of GEMM (M N K dtype_a), "
                                "MoE (token model_dim inter_dim expert topk) and attention "
                                "(B Hq Hkv Sq Skv D)",
                                table.name()));
  }
  std::vector<MeasuredRow> rows(table.rows());
  for (std::size_t i = 0; i < rows.size(); ++i) {
    RowReader row(table, table.cells(i));
    MeasuredRow &result = rows[i];
    result.number = i + 1;
    result.op = row.text("op");
    result.gfx = row.text("gfx");
    result.cus = row.count("cu_num").value_or(0);
    result.typeA = row.text("dtype_a");
    result.typeOut = row.text("dtype_out");
    result.layout = row.text("layout");
    result.timing = row.text("timing");
    read(row, result);
    result.damage = table.damage(i);
    if (result.damage.empty()) {
      result.damage = row.damage;
    }
  }
  return rows;
}

} // namespace kw
