// Kernelwright
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "ir/plans/GemmRowsLoop.h"

#include "ir/plans/GemmResult.h"
#include "ir/plans/OperationCosts.h"

#include <array>
#include <vector>

namespace kw {
namespace {

constexpr int lanes = 64;
constexpr int quad = 4; ///< registers that are written together

class RowEpilogue {
public:
  RowEpilogue(LoopBuilder &builder, const Gemm &gemm, const GemmSchedule &schedule,
              const Target &target)
      : builder(builder), gemm(gemm), schedule(schedule), target(target),
        rows(resultRows(gemm, schedule)) {}

  void list() {
    const bool shared = rows.place == RowsPlace::loop;
    start = shared ? builder.add({TileOpKind::barrier}, issueOf(1)) : -1;
    Pass before = begin(0);
    for (int pass = 1; pass < rows.passes(); ++pass) {
      const Pass next = begin(pass);
      finish(before);
      before = next;
    }
    finish(before);
    if (shared && schedule.mapping.grid != GridKind::tiles) {
      builder.add({TileOpKind::barrier}, issueOf(1));
    }
  }

private:
  struct Pass {
    int number = 0;
    std::vector<int> loads;
    int read = -1;
  };

  Pass begin(int number) {
    Pass pass{number, {}, -1};
    for (const ResultInput &input : resultInputs(gemm)) {
      const ResultLoads loads = resultLoads(gemm, schedule, input);
      pass.loads.push_back(
          memory(TileOpKind::globalLoad, input.operand, number, loads.loads, loads.bytes));
    }
    const int computed = rows.rounded ? compute(number) : -1;
    const int quads = rows.rows() * rows.columns() / (lanes * quad);
    const int written =
        lds(TileOpKind::ldsWrite, number, quads, quads * static_cast<float>(writeCycles()));
    if (computed >= 0) {
      builder.depend(computed, written, target.valuCycles);
    } else if (start >= 0) {
      builder.depend(start, written, schedule.waves() > 1 ? barrierCycles : 0);
    }
    const int reads = rows.stores() * rows.reads();
    pass.read = lds(TileOpKind::ldsRead, number, reads, static_cast<float>(readCycles()));
    builder.depend(written, pass.read, issueCycles);
    return pass;
  }

  void finish(const Pass &pass) {
    const ResultStores stores = resultStores(gemm, schedule);
    int ready = pass.read;
    if (!rows.rounded) {
      ready = compute(pass.number);
      builder.depend(pass.read, ready, target.ldsLatencyCycles);
      for (const int load : pass.loads) {
        builder.depend(load, ready, target.l2LatencyCycles);
      }
    }
    const int stored =
        memory(TileOpKind::store, TileOperand::c, pass.number, stores.stores, stores.bytes);
    builder.depend(ready, stored, rows.rounded ? target.ldsLatencyCycles : target.valuCycles);
  }

  TileOp op(TileOpKind kind, TileOperand operand, int pass, int count) const {
    TileOp result{kind, operand};
    result.row = static_cast<std::int16_t>(pass / rows.passesN * rows.fragmentsM);
    result.column = static_cast<std::int16_t>(pass % rows.passesN * rows.fragmentsN);
    result.count = static_cast<std::int16_t>(count);
    return result;
  }

  int compute(int pass) {
    const ResultArithmetic arithmetic = resultArithmetic(gemm);
    const int registers = rows.rows() * rows.columns() / lanes;
    TileOp result =
        op(TileOpKind::vector, TileOperand::c, pass,
           resultStores(gemm, schedule).conversions + registers * arithmetic.instructions);
    result.transcendentals = static_cast<std::int16_t>(registers * arithmetic.transcendentals);
    return builder.add(result, vectorUse(target, result.count, result.transcendentals));
  }

  int memory(TileOpKind kind, TileOperand operand, int pass, int count, int bytes) {
    ResourceUse use = issueOf(count);
    use.vectorMemory = float(count * lanes * bytes) / float(target.l1BytesPerClock);
    return builder.add(op(kind, operand, pass, count), use);
  }

  int lds(TileOpKind kind, int pass, int count, float cycles) {
    ResourceUse use = issueOf(count);
    use.lds = cycles;
    return builder.add(op(kind, TileOperand::c, pass, count), use);
  }

  double writeCycles() const {
    std::array<std::int64_t, lanes> address{};
    for (int lane = 0; lane < lanes; ++lane) {
      address[lane] = writtenAddress(rows, 0, 0, 0, lane);
    }
    return ldsCycles(target, quad * rows.elementBytes, true, address);
  }

  /// Of one pass.
  double readCycles() const {
    std::array<std::int64_t, lanes> address{};
    double total = 0;
    for (int read = 0; read < rows.reads(); ++read) {
      for (int lane = 0; lane < lanes; ++lane) {
        address[lane] = readAddress(rows, 0, read, lane);
      }
      total += ldsCycles(target, rows.readBytes(), false, address);
    }
    return rows.stores() * total;
  }

  LoopBuilder &builder;
  const Gemm &gemm;
  const GemmSchedule &schedule;
  const Target &target;
  ResultRows rows;
  int start = -1; ///< the barrier in front
};

} // namespace

void listRowEpilogue(LoopBuilder &builder, const Gemm &gemm, const GemmSchedule &schedule,
                     const Target &target) {
  RowEpilogue(builder, gemm, schedule, target).list();
}

} // namespace kw
