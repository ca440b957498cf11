// Kernelwright
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "runtime/emulator/Hazards.h"

#include "runtime/emulator/Workgroup.h"
#include "runtime/emulator/semantics/MatrixShapes.h"

#include <algorithm>
#include <fmt/core.h>

namespace kw::detail {

namespace {

constexpr std::uint32_t horizon = hazardHorizon;

/// Passes of a matrix instruction; f8f6f4 runs twice as fast without 8-bit operands.
int passesOf(const Op &op) {
  const MatrixShape &shape = matrixShape(op);
  if (shape.a == Element::f8f6f4 && op.imm >= 2 && op.imm3 >= 2) {
    return shape.passes / 2;
  }
  return shape.passes;
}

bool isMatrix(Producer producer) {
  return producer == Producer::xdl || producer == Producer::nonXdl ||
         producer == Producer::f64Matrix;
}

enum class Use { vectorRead, vectorWrite, memoryRead, matrixAb, matrixC };

int afterMatrix(const WriteStamp &stamp, Use use) {
  const int passes = stamp.passes;
  switch (stamp.producer) {
  case Producer::xdl:
    if (use == Use::matrixC) {
      return passes + 2;
    }
    return passes == 2 ? 5 : passes + 4;
  case Producer::nonXdl:
    return use == Use::matrixC ? passes : passes + 2;
  case Producer::f64Matrix:
    if (use == Use::matrixC) {
      return 0; // not in the table
    }
    if (passes == 4) {
      return use == Use::memoryRead ? 9 : 6;
    }
    return use == Use::vectorWrite ? 11 : use == Use::memoryRead ? 18 : 19;
  default:
    return 0;
  }
}

/// MFMA reads its C: then a VALU write of it (WAR). Of XDL instructions alone: LLVM 22
/// (GCNHazardRecognizer) waits behind no other kind on gfx940 and later.
int afterMatrixRead(int passes) { return passes == 2 ? 1 : passes == 4 ? 3 : passes == 8 ? 7 : 13; }

void require(Wave &wave, const Op &op, const WriteStamp &stamp, int needed, const char *what,
             int reg) {
  const int between = static_cast<int>(wave.slot - stamp.slot) - 1;
  if (between >= needed) {
    return;
  }
  const KernelCode &kernel = *wave.group->context.kernel;
  wave.report(FindingKind::missingWaitStates, op, -1,
              fmt::format("{} {} needs {} wait states after {:#x} ({}), has {}", what, reg, needed,
                          kernel.offsets[stamp.op], kernel.text[stamp.op], between));
}

bool isMemory(Kind kind) {
  return kind == Kind::lds || kind == Kind::ldsNoMemory || kind == Kind::buffer ||
         kind == Kind::global || kind == Kind::flat || kind == Kind::scratch;
}

bool isSwap(const Op &op) { // v_permlane{16,32}_swap, v_swap
  return op.flow == Flow::handler && op.resultCount == 2;
}

/// Cross-lane reads that see a VALU result too late. The handlers' Flow marks them.
int afterVector(const Op &op, int source) {
  if (op.kind == Kind::mfma) {
    return 2;
  }
  if (op.kind != Kind::valu) {
    return 0;
  }
  if (op.form == Form::dpp) {
    return source == 0 ? 2 : 0;
  }
  if (isSwap(op)) {
    return 2;
  }
  const bool toScalar =
      op.flow == Flow::handler && op.resultCount == 1 && op.result[0].file == File::scalar;
  return toScalar && source == 0 ? 1 : 0; // v_readlane, v_readfirstlane
}

/// AMD's hand-written fp8 kernels read the result of a 4-pass instruction by v_pk_fma_f32 after two
/// states, thousands of times a tile, and are right on hardware: this pair waits by itself.
int afterMatrixAtLeast(const Wave &wave, const Op &op, const WriteStamp &stamp) {
  const int needed = afterMatrix(stamp, Use::vectorRead);
  const bool near = stamp.producer == Producer::xdl && stamp.passes == 4 &&
                    static_cast<int>(wave.slot - stamp.slot) <= needed;
  const bool packedFma =
      near && wave.group->context.kernel->text[op.index].starts_with("v_pk_fma_f32");
  return packedFma ? 2 : needed;
}

void checkVectorRead(Wave &wave, const Op &op, int source) {
  const Operand &operand = op.source[source];
  const int crossLane = afterVector(op, source);
  for (int word = 0; word < operand.words; ++word) {
    const int reg = operand.reg + word;
    const WriteStamp &stamp = wave.vgprWritten[reg];
    if (wave.slot - stamp.slot > horizon) {
      continue;
    }
    if (isMatrix(stamp.producer)) {
      int needed;
      if (op.kind == Kind::mfma && source == 2) {
        const bool same = operand.reg == stamp.first && word == reg - stamp.first;
        needed = same ? (stamp.passes == 2 ? 2 : 0) : afterMatrix(stamp, Use::matrixC);
      } else {
        needed = op.kind == Kind::mfma ? afterMatrix(stamp, Use::matrixAb)
                 : isMemory(op.kind)   ? afterMatrix(stamp, Use::memoryRead)
                                       : afterMatrixAtLeast(wave, op, stamp);
      }
      require(wave, op, stamp, needed, "reading vector register", reg);
    } else if (stamp.producer == Producer::trans && op.kind == Kind::valu && !op.transcendental) {
      require(wave, op, stamp, std::max(1, crossLane), "reading vector register", reg);
    } else if (stamp.producer == Producer::valu || stamp.producer == Producer::trans) {
      // Chains of swaps have one state between them in AMD's hand-written attention.
      const bool chained = isSwap(op) && isSwap(wave.group->ops[stamp.op]);
      require(wave, op, stamp, chained ? 1 : crossLane, "reading vector register", reg);
    }
  }
}

void checkVectorWrite(Wave &wave, const Op &op, const Operand &operand) {
  for (int word = 0; word < operand.words; ++word) {
    const int reg = operand.reg + word;
    const WriteStamp &stamp = wave.vgprWritten[reg];
    if (isMatrix(stamp.producer)) {
      require(wave, op, stamp, afterMatrix(stamp, Use::vectorWrite), "writing vector register",
              reg);
    }
    const WriteStamp &read = wave.matrixReadC[reg];
    if (read.producer == Producer::xdl) {
      require(wave, op, read, afterMatrixRead(read.passes), "overwriting matrix operand C in", reg);
    }
  }
}

bool selectsLane(const Op &op, int source) {
  return op.kind == Kind::valu && op.flow == Flow::handler && source == 1;
}

/// A bit a lane in an SGPR pair (v_cndmask, carry in). LLVM pads these like constants, but the
/// hardware does not need it: hand-written gfx950 kernels of AMD select by a mask in the very next
/// instruction. Masks in VCC keep LLVM's rule, no known kernel contradicts it.
bool isLaneMask(const Op &op, int source) {
  const Operand &operand = op.source[source];
  return op.kind == Kind::valu && source == 2 && operand.words == 2 && op.resultCount > 0 &&
         op.result[0].words == 1 && operand.reg != scalarReg::vcc;
}

void checkScalarRead(Wave &wave, const Op &op, int source) {
  const Operand &operand = op.source[source];
  const bool vectorMemory = op.kind == Kind::buffer || op.kind == Kind::global ||
                            op.kind == Kind::flat || op.kind == Kind::scratch;
  const int needed = vectorMemory              ? 5
                     : selectsLane(op, source) ? 4
                     : isLaneMask(op, source)  ? 0
                     : op.kind == Kind::valu   ? 2
                                               : 0;
  for (int word = 0; word < operand.words && needed > 0; ++word) {
    const WriteStamp &stamp = wave.sgprWritten[operand.reg + word];
    if (stamp.producer == Producer::valu) {
      // v_div_fmas takes VCC as its fourth source.
      const bool divFmas = op.kind == Kind::valu && source == 3 && operand.reg == scalarReg::vcc;
      require(wave, op, stamp, divFmas ? 4 : needed, "reading scalar register", operand.reg);
      return;
    }
  }
}

void checkExec(Wave &wave, const Op &op) {
  const WriteStamp &stamp = wave.sgprWritten[scalarReg::exec];
  if (stamp.producer != Producer::valu || wave.slot - stamp.slot > horizon) {
    return;
  }
  const int needed = op.kind == Kind::mfma ? 4 : op.form == Form::dpp ? 5 : 0;
  require(wave, op, stamp, needed, "EXEC, register", scalarReg::exec);
}

} // namespace

void checkWaitStates(Wave &wave, const Op &op) {
  if (op.kind == Kind::mfma) {
    wave.slot = std::max(wave.slot, wave.matrixFree);
  }
  const bool isVector = op.kind == Kind::valu || op.kind == Kind::mfma;
  if (!isVector && !isMemory(op.kind)) {
    return;
  }
  const bool nearMatrix = wave.slot - wave.matrixSlot <= horizon;
  const bool crossesLanes = op.kind == Kind::mfma || op.form == Form::dpp ||
                            (op.kind == Kind::valu && op.flow == Flow::handler);
  const bool vectors = nearMatrix || crossesLanes || wave.slot - wave.transSlot <= 1;
  for (int i = 0; i < op.sourceCount; ++i) {
    if (op.source[i].file == File::vector) {
      if (vectors) {
        checkVectorRead(wave, op, i);
      }
    } else if (op.source[i].file == File::scalar) {
      checkScalarRead(wave, op, i);
    }
  }
  if (isVector) {
    checkExec(wave, op);
    if (nearMatrix && op.kind == Kind::valu) {
      for (int i = 0; i < op.resultCount; ++i) {
        if (op.result[i].file == File::vector) {
          checkVectorWrite(wave, op, op.result[i]);
        }
      }
    }
  }
}

void noteWrites(Wave &wave, const Op &op) {
  WriteStamp stamp{.slot = wave.slot, .op = op.index};
  switch (op.kind) {
  case Kind::valu:
    stamp.producer = op.transcendental ? Producer::trans : Producer::valu;
    if (op.transcendental) {
      wave.transSlot = wave.slot;
    }
    break;
  case Kind::mfma: {
    const MatrixShape &shape = matrixShape(op);
    stamp.producer = shape.isXdl()      ? Producer::xdl
                     : shape.isDouble() ? Producer::f64Matrix
                                        : Producer::nonXdl;
    stamp.passes = static_cast<std::uint8_t>(passesOf(op));
    wave.matrixSlot = wave.slot;
    wave.matrixFree = wave.slot + stamp.passes;
    if (op.source[2].file == File::vector) {
      for (int word = 0; word < op.source[2].words; ++word) {
        wave.matrixReadC[op.source[2].reg + word] = stamp;
      }
    }
    break;
  }
  case Kind::salu:
    stamp.producer = Producer::salu;
    break;
  case Kind::smem:
    stamp.producer = Producer::none;
    break;
  default:
    stamp.producer = Producer::vmem;
  }
  for (int i = 0; i < op.resultCount; ++i) {
    stamp.first = op.result[i].reg;
    for (int word = 0; word < op.result[i].words; ++word) {
      if (op.result[i].file == File::vector) {
        wave.vgprWritten[op.result[i].reg + word] = stamp;
      } else if (op.result[i].file == File::scalar) {
        WriteStamp scalar = stamp;
        scalar.producer = stamp.producer == Producer::trans ? Producer::valu : stamp.producer;
        wave.sgprWritten[op.result[i].reg + word] = scalar;
      }
    }
  }
  if (op.kind == Kind::valu && op.writesExec) { // v_cmpx
    wave.sgprWritten[scalarReg::exec] = wave.sgprWritten[scalarReg::exec + 1] = stamp;
  }
}

} // namespace kw::detail
