// Kernelwright
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// ds_*: reads, writes, transposing reads, atomics. Addresses are bytes; M0 does not clamp (LLVM's
// code never sets it): the allocation does. [gfx950.md 4.4]
#include "runtime/emulator/Checker.h"
#include "runtime/emulator/MemoryAccess.h"
#include "runtime/emulator/Workgroup.h"
#include "runtime/emulator/semantics/Fetch.h"
#include "runtime/emulator/semantics/Semantics.h"
#include "runtime/emulator/semantics/Words.h"

#include <algorithm>
#include <bit>
#include <fmt/core.h>

namespace kw::detail {

namespace {

struct Addresses {
  alignas(64) u32 at[laneCount];
  u64 lanes = 0;     ///< active and in bounds
  bool fast = false; ///< all lanes, aligned
};

/// Lane addresses plus `offset`; what is out of bounds or misaligned is reported.
void resolve(Wave &wave, const Op &op, std::int64_t offset, unsigned count, unsigned alignment,
             Addresses &out) {
  const u32 *base = fetchRaw(wave, op, 0);
  const u32 size = wave.group->lds.size();
  const u64 exec = wave.exec();
  u32 largest = 0, low = 0;
  for (int l = 0; l < laneCount; ++l) {
    out.at[l] = base[l] + static_cast<u32>(offset);
    largest = std::max(largest, out.at[l]);
    low |= out.at[l];
  }
  out.lanes = exec;
  out.fast =
      exec == allLanes && size >= count && largest <= size - count && (low & (alignment - 1)) == 0;
  if (out.fast) {
    return;
  }
  for (int l = 0; l < laneCount; ++l) {
    if (!(exec >> l & 1)) {
      continue;
    }
    if (size < count || out.at[l] > size - count) {
      wave.report(
          FindingKind::outOfBounds, op, l,
          fmt::format("{} bytes at LDS address {:#x} of {} allocated", count, out.at[l], size));
      out.lanes &= ~(u64{1} << l);
    } else if (out.at[l] % alignment != 0) {
      wave.report(FindingKind::misaligned, op, l,
                  fmt::format("LDS address {:#x} is not a multiple of {}", out.at[l], alignment));
    }
  }
}

unsigned alignmentOf(unsigned count) { return count >= 4 ? 4 : count; }

void setValid(Wave &wave, int first, int words, u64 active, u64 defined, const Op &op) {
  for (int word = 0; word < words; ++word) {
    u64 &valid = wave.vgprValid[first + word];
    valid = (valid & ~active) | (defined & active);
    wave.vgprOrigin[first + word] = op.index + 1;
  }
}

void readAt(Wave &wave, const Op &op, std::int64_t offset, int first) {
  Lds &lds = wave.group->lds;
  Addresses addresses;
  const unsigned count = op.accessBytes;
  resolve(wave, op, offset, count, alignmentOf(count), addresses);
  const int words = static_cast<int>(std::max(1u, count / 4));
  u64 defined = allLanes;
  if (wave.strict()) {
    const LdsAccess access{addresses.lanes, addresses.at, count};
    defined = lds.noteReads(wave, op, access) | ~addresses.lanes;
    wave.issuing.lanes = addresses.lanes;
    wave.issuing.readBytes = static_cast<u16>(count);
    std::copy_n(addresses.at, laneCount, wave.issuing.address.begin());
  }
  if (addresses.fast && op.memoryType == MemoryType::dwords) {
    laneCopies().gather(&wave.vgpr[first], lds.data(), addresses.at, words);
  } else {
    const u8 zeros[16] = {};
    const u64 exec = wave.exec();
    for (int l = 0; l < laneCount; ++l) {
      if (exec >> l & 1) {
        const bool inside = addresses.lanes >> l & 1;
        putLoaded(wave, op, first, l, inside ? lds.data() + addresses.at[l] : zeros, count);
      }
    }
  }
  setValid(wave, first, words, wave.exec(), defined, op);
}

void read(Wave &wave, const Op &op) {
  readAt(wave, op, op.imm, op.result[0].reg);
  if (op.offen) {
    readAt(wave, op, op.imm2, op.result[0].reg + op.accessBytes / 4);
  }
}

/// Address register and destination may overlap in read2: the address is read once.
void readPair(Wave &wave, const Op &op) {
  const int first = op.result[0].reg, words = op.accessBytes / 4;
  const bool overlaps = op.source[0].reg >= first && op.source[0].reg < first + words;
  if (!overlaps) {
    read(wave, op);
    return;
  }
  Register saved;
  std::copy_n(wave.vgpr[op.source[0].reg], laneCount, saved);
  readAt(wave, op, op.imm, first);
  Register loaded;
  std::copy_n(wave.vgpr[op.source[0].reg], laneCount, loaded);
  std::copy_n(saved, laneCount, wave.vgpr[op.source[0].reg]);
  readAt(wave, op, op.imm2, first + words);
  std::copy_n(loaded, laneCount, wave.vgpr[op.source[0].reg]);
}

void writeAt(Wave &wave, const Op &op, std::int64_t offset, const Operand &data, u32 serial) {
  Lds &lds = wave.group->lds;
  Addresses addresses;
  const unsigned count = op.accessBytes;
  resolve(wave, op, offset, count, alignmentOf(count), addresses);
  if (wave.strict()) {
    lds.noteWrites(
        wave, op, {addresses.lanes, addresses.at, count},
        {.serial = serial, .validLanes = definedLanes(wave, data), .data = &wave.vgpr[data.reg]});
  }
  if (addresses.fast && op.memoryType == MemoryType::dwords) {
    laneCopies().scatter(&wave.vgpr[data.reg], lds.data(), addresses.at,
                         static_cast<int>(count / 4));
    return;
  }
  for (int l = 0; l < laneCount; ++l) {
    if (addresses.lanes >> l & 1) {
      takeStored(wave, op, data.reg, l, lds.data() + addresses.at[l], count);
    }
  }
}

void write(Wave &wave, const Op &op) {
  const u32 serial = wave.group->lds.nextSerial();
  wave.issuing.ldsWrite = true;
  wave.issuing.serial = serial;
  writeAt(wave, op, op.imm, op.source[1], serial);
  if (op.offen) {
    writeAt(wave, op, op.imm2, op.source[2], serial);
  }
}

/// Transposing reads: in each group of 16 lanes, element n of lane l is element l mod e of lane
/// (l mod 16) / e + (16 / e) n, where e is the number of elements a lane reads. For b16 this is
/// known from hardware; the others follow the same idea. [gfx950.md 2.5]
template <int elementBits, int words> void readTransposed(Wave &wave, const Op &op) {
  Lds &lds = wave.group->lds;
  constexpr unsigned count = 4 * words;
  Addresses addresses;
  resolve(wave, op, op.imm, count, words == 2 ? 8 : 4, addresses);
  u64 defined = allLanes;
  if (wave.strict()) {
    defined = lds.noteReads(wave, op, {addresses.lanes, addresses.at, count}) | ~addresses.lanes;
    wave.issuing.lanes = addresses.lanes;
    wave.issuing.readBytes = count;
    std::copy_n(addresses.at, laneCount, wave.issuing.address.begin());
  }
  u8 loaded[laneCount][16] = {};
  for (int l = 0; l < laneCount; ++l) {
    if (addresses.lanes >> l & 1) {
      std::memcpy(loaded[l], lds.data() + addresses.at[l], count);
    }
  }
  constexpr int elements = 8 * static_cast<int>(count) / elementBits;
  constexpr u32 mask = (1u << elementBits) - 1;
  const auto element = [&](int lane, int i) {
    const int bit = i * elementBits;
    u32 window = 0;
    std::memcpy(&window, loaded[lane] + bit / 8, 4);
    return window >> (bit % 8) & mask;
  };
  const u64 exec = wave.exec();
  u64 validResult = 0;
  for (int l = 0; l < laneCount; ++l) {
    u64 packed[2] = {0, 0};
    bool valid = true;
    for (int n = 0; n < elements; ++n) {
      const int from = l / 16 * 16 + l % 16 / elements + 16 / elements * n;
      const u64 x = element(from, l % elements);
      const int bit = n * elementBits;
      packed[bit / 64] |= x << (bit % 64);
      if (bit % 64 + elementBits > 64) {
        packed[1] |= x >> (64 - bit % 64);
      }
      valid &= defined >> from & 1;
    }
    validResult |= u64{valid} << l;
    if (exec >> l & 1) {
      for (int word = 0; word < words; ++word) {
        wave.vgpr[op.result[0].reg + word][l] =
            static_cast<u32>(packed[word / 2] >> (32 * (word % 2)));
      }
    }
  }
  setValid(wave, op.result[0].reg, words, exec, validResult, op);
}

template <class T> T laneValue(const Wave &wave, const Operand &operand, int lane) {
  u64 bits = wave.vgpr[operand.reg][lane];
  if constexpr (sizeof(T) == 8) {
    bits |= static_cast<u64>(wave.vgpr[operand.reg + 1][lane]) << 32;
    return std::bit_cast<T>(bits);
  } else {
    return std::bit_cast<T>(static_cast<u32>(bits));
  }
}

/// F(memory, data0, data1) is what memory becomes. Lanes go one after another.
template <class T, auto F> void atomic(Wave &wave, const Op &op) {
  Lds &lds = wave.group->lds;
  Addresses addresses;
  resolve(wave, op, op.imm, sizeof(T), sizeof(T), addresses);
  u64 defined = allLanes;
  const u32 serial = lds.nextSerial();
  wave.issuing.ldsWrite = true;
  wave.issuing.serial = serial;
  if (wave.strict()) {
    const LdsAccess access{addresses.lanes, addresses.at, sizeof(T)};
    defined = lds.noteAtomics(wave, op, access) & definedLanes(wave, op.source[1]);
    lds.noteWrites(wave, op, access, {.atomic = true, .serial = serial, .validLanes = defined});
  }
  for (int l = 0; l < laneCount; ++l) {
    if (!(addresses.lanes >> l & 1)) {
      continue;
    }
    T memory;
    std::memcpy(&memory, lds.data() + addresses.at[l], sizeof(T));
    const T data0 = laneValue<T>(wave, op.source[1], l);
    const T data1 = op.sourceCount > 2 ? laneValue<T>(wave, op.source[2], l) : T{};
    const T result = F(memory, data0, data1);
    std::memcpy(lds.data() + addresses.at[l], &result, sizeof(T));
    if (op.resultCount > 0) {
      u32 words[sizeof(T) / 4];
      std::memcpy(words, &memory, sizeof(T));
      for (std::size_t word = 0; word < sizeof(T) / 4; ++word) {
        wave.vgpr[op.result[0].reg + word][l] = words[word];
      }
    }
  }
  if (op.resultCount > 0) {
    setValid(wave, op.result[0].reg, sizeof(T) / 4, wave.exec(), defined, op);
  }
}

} // namespace

// An atomic with and without the old value as result.
#define KW_ATOMIC(VERB, TYPE_NAME, T, EXPRESSION)                                                  \
  {"DS_" VERB "_" TYPE_NAME,                                                                       \
   atomic<T, [](T m, [[maybe_unused]] T d, [[maybe_unused]] T e) { return T(EXPRESSION); }>},      \
  {                                                                                                \
    "DS_" VERB "_RTN_" TYPE_NAME,                                                                  \
        atomic<T, [](T m, [[maybe_unused]] T d, [[maybe_unused]] T e) { return T(EXPRESSION); }>   \
  }

std::span<const Semantics> ldsTable() {
  static const Semantics rows[] = {
      {"DS_READ_B32", read},
      {"DS_READ_B64", read},
      {"DS_READ_B96", read},
      {"DS_READ_B128", read},
      {"DS_READ_U8", read},
      {"DS_READ_I8", read},
      {"DS_READ_U16", read},
      {"DS_READ_I16", read},
      {"DS_READ_U8_D16", read},
      {"DS_READ_U8_D16_HI", read},
      {"DS_READ_I8_D16", read},
      {"DS_READ_I8_D16_HI", read},
      {"DS_READ_U16_D16", read},
      {"DS_READ_U16_D16_HI", read},
      {"DS_READ2_B32", readPair},
      {"DS_READ2_B64", readPair},
      {"DS_READ2ST64_B32", readPair},
      {"DS_READ2ST64_B64", readPair},
      {"DS_READ_B64_TR_B16", readTransposed<16, 2>},
      {"DS_READ_B64_TR_B8", readTransposed<8, 2>},
      {"DS_READ_B64_TR_B4", readTransposed<4, 2>},
      {"DS_READ_B96_TR_B6", readTransposed<6, 3>},
      {"DS_WRITE_B8", write},
      {"DS_WRITE_B8_D16_HI", write},
      {"DS_WRITE_B16", write},
      {"DS_WRITE_B16_D16_HI", write},
      {"DS_WRITE_B32", write},
      {"DS_WRITE_B64", write},
      {"DS_WRITE_B96", write},
      {"DS_WRITE_B128", write},
      {"DS_WRITE2_B32", write},
      {"DS_WRITE2_B64", write},
      {"DS_WRITE2ST64_B32", write},
      {"DS_WRITE2ST64_B64", write},
      KW_ATOMIC("ADD", "U32", u32, m + d),
      KW_ATOMIC("SUB", "U32", u32, m - d),
      KW_ATOMIC("INC", "U32", u32, (m >= d ? 0 : m + 1)),
      KW_ATOMIC("DEC", "U32", u32, (m == 0 || m > d ? d : m - 1)),
      KW_ATOMIC("MIN", "U32", u32, std::min(m, d)),
      KW_ATOMIC("MAX", "U32", u32, std::max(m, d)),
      KW_ATOMIC("MIN", "I32", i32, std::min(m, d)),
      KW_ATOMIC("MAX", "I32", i32, std::max(m, d)),
      KW_ATOMIC("AND", "B32", u32, m & d),
      KW_ATOMIC("OR", "B32", u32, m | d),
      KW_ATOMIC("XOR", "B32", u32, m ^ d),
      KW_ATOMIC("ADD", "U64", u64, m + d),
      KW_ATOMIC("ADD", "F32", f32, m + d),
      KW_ATOMIC("ADD", "F64", f64, m + d),
      KW_ATOMIC("MIN", "F32", f32, std::fmin(m, d)),
      KW_ATOMIC("MAX", "F32", f32, std::fmax(m, d)),
      KW_ATOMIC("PK_ADD", "F16", u32, addPackedHalf(m, d)),
      KW_ATOMIC("PK_ADD", "BF16", u32, addPackedBfloat(m, d)),
      KW_ATOMIC("CMPST", "B32", u32, (m == d ? e : m)),
      KW_ATOMIC("CMPST", "B64", u64, (m == d ? e : m)),
      {"DS_WRXCHG_RTN_B32", atomic<u32, [](u32, u32 d, u32) { return d; }>},
      {"DS_WRXCHG_RTN_B64", atomic<u64, [](u64, u64 d, u64) { return d; }>},
      {"DS_NOP", [](Wave &, const Op &) {}},
  };
  return rows;
}
#undef KW_ATOMIC

} // namespace kw::detail
