// Kernelwright
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A decoded instruction: operands resolved to register numbers, constants spread over the lanes,
// the handler that executes it. Decoded once per kernel (Decoder.h), read by the handlers
// (semantics/*.cpp) and by the strict checks (Checker.h).
#pragma once

#include <array>
#include <cstdint>

namespace kw::detail {

struct Wave;
struct Op;

using Handler = void (*)(Wave &, const Op &);

constexpr int laneCount = 64;
using Register = std::uint32_t[laneCount];
constexpr std::uint64_t allLanes = ~std::uint64_t{0};

/// Scalar registers by their encoding: s0..s101, then these.
namespace scalarReg {
constexpr int flatScratch = 102, xnackMask = 104, vcc = 106, ttmp0 = 108, m0 = 124, exec = 126;
constexpr int count = 128;
} // namespace scalarReg

/// Physical vector registers of a wave: VGPRs, and AGPRs from accum_offset on.
constexpr int vectorRegisterCount = 512;

enum class File : std::uint8_t {
  none,
  vector,
  scalar,
  constant, ///< `value`, spread over lanes at `spread`
  special,  ///< src_scc, apertures, ...: `reg` is the encoding
};

struct Operand {
  File file = File::none;
  std::uint8_t words = 1; ///< 32-bit registers
  std::uint8_t mods =
      0; ///< bit 0 neg, 1 abs, 4 sext; packed: 0 neg, 1 neg_hi, 2 op_sel, 3 op_sel_hi
  std::uint16_t reg = 0;
  std::uint64_t value = 0;
  const std::uint32_t *spread = nullptr; ///< two words of 64 lanes each
};

/// What an instruction is to the scheduler and to the strict checks.
enum class Kind : std::uint8_t {
  unknown,
  salu,
  valu,
  mfma,
  smem,
  lds,         ///< ds_*
  ldsNoMemory, ///< ds_bpermute, ds_swizzle: LDS pipe and lgkmcnt, no memory
  buffer,      ///< buffer_*: in vmcnt
  global,
  flat,
  scratch,
  cache, ///< buffer_inv, buffer_wbl2: in vmcnt, no data
  branch,
  wait,
  barrier,
  end,
  trap,
  other, ///< s_nop, s_sleep, s_setprio, ...
};

enum class Access : std::uint8_t { none, load, store, atomic, loadToLds };

/// How loaded bytes become a register and the other way round.
enum class MemoryType : std::uint8_t {
  dwords,
  zeroExtend,
  signExtend,
  d16,           ///< 16 bits into the low half, the rest kept; stores: from the low half
  d16Hi,         ///< the same with the high half
  d16SignExtend, ///< 8 bits sign-extended to 16 into the low half
  d16HiSignExtend,
  d16ZeroExtend, ///< 8 bits
  d16HiZeroExtend,
};

/// DPP and SDWA: handled where sources are fetched and results written.
enum class Form : std::uint8_t { plain, dpp, sdwa };

/// How lanes of validity flow from sources to results (Checker.h).
enum class Flow : std::uint8_t {
  allSources, ///< each result lane is valid where all sources are
  byWord,     ///< word i of the result from word i of the sources (packed f32, 64-bit moves)
  select,     ///< v_cndmask: the chosen source
  handler,    ///< the handler sets it (crosses lanes)
  accumulate, ///< allSources, and the destination is a source
  carryUp,    ///< 64-bit: the low word depends on low words only
  carryDown,  ///< the high word depends on high words only
  // Scalar, bit by bit: a known 0 decides an AND, a known 1 an OR.
  bits,
  bitAnd,
  bitOr,
  bitAndNot,
};

/// Bits of Op::cachePolicy, as LLVM's CPol: glc of scalar loads is sc0.
namespace cachePolicy {
constexpr std::uint8_t sc0 = 1, nt = 2, sc1 = 16;
} // namespace cachePolicy

/// How an instruction touches global memory (GlobalOrder.h).
struct GlobalUse {
  bool writes = false;
  bool reads = false;
  bool atomic = false;  ///< performed where all CUs see it; two of them never race
  bool rmw = false;     ///< read-modify-write
  bool through = false; ///< a write that needs no buffer_wbl2
  bool releases = false, acquires = false;
  static GlobalUse of(const Op &op);
};

constexpr int maxSources = 6;

struct Op {
  Handler run = nullptr;
  Kind kind = Kind::unknown;
  Access access = Access::none;
  Form form = Form::plain;
  Flow flow = Flow::allSources;
  std::uint8_t sourceCount = 0;
  std::uint8_t resultCount = 0;
  bool plainSources = false;  ///< no modifiers, DPP or SDWA
  bool plainResult = true;    ///< no clamp, omod, SDWA selection or half that stays
  bool keepsHighHalf = false; ///< of a 16-bit result's register
  bool clamp = false;
  std::uint8_t omod = 0; ///< 0 none, 1 *2, 2 *4, 3 /2
  bool readsExec = true;
  bool readsExecAsSource = false; ///< s_*_saveexec
  bool writesExec = false, readsVcc = false, writesVcc = false, readsScc = false, writesScc = false;
  bool transcendental = false;
  std::uint8_t waitStates = 1; ///< issue slots: 1, s_nop n: n + 1
  std::array<Operand, 2> result;
  std::array<Operand, maxSources> source;

  /// What is left: branch target (index of an instruction), offset, s_waitcnt, DPP control,
  /// swizzle pattern, truth table, SOPK constant, cbsz.
  std::int64_t imm = 0;
  std::int64_t imm2 = 0;        ///< second offset, hwreg, abid
  std::int64_t imm3 = 0;        ///< blgp
  std::uint8_t accessBytes = 0; ///< of one lane (of one element for read2/write2)
  MemoryType memoryType = MemoryType::dwords;
  bool offen = false, idxen = false, glc = false;
  bool floatAtomic = false; ///< an atomic that cannot be a semaphore
  std::uint8_t cachePolicy = 0;
  GlobalUse use;
  /// One vector register from vector registers and constants, lane by lane: most instructions.
  bool simple = false;
  bool advances = false;             ///< no part of waiting for others: not polled
  std::uint16_t registersNeeded = 0; ///< if more vector registers than the kernel allocates
  bool writesBack = false;           ///< buffer_wbl2 sc1
  bool addressIsScalar = false;      ///< global/scratch: saddr form (source: saddr, then vaddr)
  std::uint8_t rowMask = 15, bankMask = 15;
  bool boundCtrl = false;
  std::uint8_t dstSel = 6, dstUnused = 0;
  std::array<std::uint8_t, 2> srcSel{6, 6};
  const void *data = nullptr; ///< a table row of the handler's file (e.g. MfmaShape)
  std::uint32_t index = 0;    ///< of this instruction in the kernel
};

} // namespace kw::detail
