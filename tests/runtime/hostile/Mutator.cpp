// Kernelwright
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "Mutator.h"

#include "ElfRegions.h"
#include "JsonDamage.h"

#include <algorithm>
#include <cstring>
#include <elf.h>
#include <iterator>
#include <nlohmann/json.hpp>

namespace kw::test {
namespace {

using Json = nlohmann::json;
using Bytes = std::vector<std::uint8_t>;

/// Fixed high bits of the encodings, the rest is random: most of these decode.
struct Encoding {
  std::uint32_t bits, mask;
};
constexpr Encoding encodings[] = {
    {0x80000000, 0xc0000000}, // SOP2 and its relatives
    {0xb0000000, 0xf0000000}, // SOPK
    {0xbe800000, 0xff800000}, // SOP1
    {0xbf000000, 0xff800000}, // SOPC
    {0xbf800000, 0xff800000}, // SOPP
    {0x00000000, 0x80000000}, // VOP2
    {0x7e000000, 0xfe000000}, // VOP1
    {0x7c000000, 0xfe000000}, // VOPC
    {0xd0000000, 0xfc000000}, // VOP3
    {0xd3800000, 0xff800000}, // VOP3P, matrix instructions
    {0xd3c00000, 0xffc00000}, // matrix instructions
    {0xc0000000, 0xfc000000}, // SMEM
    {0xd8000000, 0xfc000000}, // DS
    {0xdc000000, 0xfc000000}, // FLAT, global, scratch
    {0xe0000000, 0xfc000000}, // MUBUF
};

/// A value that sizes, offsets and counts trip over.
std::uint64_t strangeInteger(std::mt19937_64 &random, std::size_t fileBytes) {
  switch (random() % 6) {
  case 0:
    return random();
  case 1:
    return std::uint64_t{1} << random() % 64;
  case 2:
    return (std::uint64_t{1} << random() % 64) - 1;
  case 3:
    return 0 - random() % 64;
  case 4:
    return fileBytes - random() % 128;
  default:
    return random() % 256;
  }
}

/// An aligned field of 1, 2, 4 or 8 bytes, or a bit.
void damageField(std::span<std::uint8_t> region, std::mt19937_64 &random, std::size_t fileBytes) {
  const std::size_t size = std::min<std::size_t>(std::size_t{1} << random() % 4, region.size());
  const std::size_t at = random() % (region.size() / size) * size;
  if (random() % 3 == 0) {
    region[at] ^= static_cast<std::uint8_t>(1u << random() % 8);
    return;
  }
  const std::uint64_t value = strangeInteger(random, fileBytes);
  std::memcpy(region.data() + at, &value, size);
}

/// Bytes that MessagePack gives a meaning: lengths, nests, types that are not used.
void damageMessagePack(std::span<std::uint8_t> note, std::mt19937_64 &random) {
  static constexpr std::uint8_t bytes[] = {0xc0, 0xc1, 0xc4, 0xc6, 0xc9, 0xcb, 0xcf, 0xd3, 0xd9,
                                           0xdb, 0xdc, 0xdd, 0xde, 0xdf, 0x8f, 0x91, 0x9f, 0xbf};
  const std::size_t first = random() % note.size();
  const std::size_t count = random() % 4 == 0 ? 1 + random() % 64 : 1;
  const std::uint8_t byte = bytes[random() % std::size(bytes)];
  std::fill_n(note.begin() + static_cast<std::ptrdiff_t>(first),
              std::min(count, note.size() - first), byte);
}

/// Damages the metadata as a tree and writes it back if there is room.
void damageMetadata(std::span<std::uint8_t> note, std::mt19937_64 &random) {
  constexpr std::size_t nameBytes = 8; // "AMDGPU" and padding
  Elf64_Nhdr header;
  if (note.size() < sizeof(header) + nameBytes) {
    return;
  }
  std::memcpy(&header, note.data(), sizeof(header));
  const auto blob = note.subspan(sizeof(header) + nameBytes);
  if (header.n_descsz > blob.size()) {
    return;
  }
  Json json =
      Json::from_msgpack(blob.begin(), blob.begin() + header.n_descsz, true, /*throws*/ false);
  if (json.is_discarded()) {
    return;
  }
  damageJson(json, random);
  const Bytes written = Json::to_msgpack(json);
  if (written.size() <= blob.size()) {
    std::copy(written.begin(), written.end(), blob.begin());
    header.n_descsz = static_cast<Elf64_Word>(written.size());
    std::memcpy(note.data(), &header, sizeof(header));
  }
}

void damageFile(Bytes &file, std::mt19937_64 &random) {
  const auto at = static_cast<std::ptrdiff_t>(random() % (file.size() + 1));
  switch (random() % 4) {
  case 0:
    file.resize(static_cast<std::size_t>(at));
    break;
  case 1:
    file.insert(file.begin() + at, 1 + random() % 64, static_cast<std::uint8_t>(random()));
    break;
  case 2:
    file.erase(file.begin() + at,
               file.begin() + std::min<std::ptrdiff_t>(std::ssize(file),
                                                       at + 1 + std::ptrdiff_t(random() % 64)));
    break;
  default:
    if (!file.empty()) {
      damageField(file, random, file.size());
    }
  }
}

void damageManifest(std::string &text, std::mt19937_64 &random) {
  Json json = Json::parse(text, nullptr, /*throws*/ false);
  if (!json.is_discarded() && random() % 8 != 0) {
    damageJson(json, random);
    text = json.dump(-1, ' ', false, Json::error_handler_t::replace);
  } else if (!text.empty()) {
    text[random() % text.size()] = static_cast<char>(random());
  }
}

} // namespace

void Mutator::damageCode(std::span<std::uint8_t> code, std::mt19937_64 &random) const {
  const std::size_t dwords = code.size() / 4;
  if (dwords < 2) {
    return;
  }
  // What comes first is surely reached.
  const std::size_t at = random() % (random() % 2 ? std::min<std::size_t>(dwords, 64) : dwords);
  std::uint8_t *const place = code.data() + 4 * at;
  const std::size_t room = 4 * (dwords - at);
  std::uint32_t words[2]{};
  std::memcpy(words, place, std::min(room, sizeof(words)));
  const Encoding &encoding = encodings[random() % std::size(encodings)];
  switch (random() % 6) {
  case 0:
    words[0] ^= 1u << random() % 32;
    break;
  case 1:
    words[room > 4 ? 1 : 0] ^= 1u << random() % 32;
    break;
  case 2: { // code from elsewhere, another kernel's perhaps
    const Bytes &other = seeds[random() % seeds.size()].hsaco;
    const std::size_t count = std::min<std::size_t>(room, 4 + random() % 16 * 4);
    if (other.size() >= count) {
      std::memcpy(place, other.data() + random() % (other.size() - count + 1) / 4 * 4, count);
    }
    return;
  }
  case 3: // one dword less or more: all branches go elsewhere
    if (random() % 2) {
      std::memmove(place, place + 4, room - 4);
    } else {
      std::memmove(place + 4, place, room - 4);
    }
    return;
  default:
    words[0] = (static_cast<std::uint32_t>(random()) & ~encoding.mask) | encoding.bits;
    if (random() % 2) {
      words[1] = static_cast<std::uint32_t>(random());
    }
  }
  std::memcpy(place, words, std::min(room, sizeof(words)));
}

void Mutator::damage(Victim &victim, std::mt19937_64 &random) const {
  const unsigned choice = random() % 100;
  if (choice < 15) {
    damageManifest(victim.manifest, random);
    return;
  }
  const std::vector<Region> regions = regionsOf(victim.hsaco);
  if (choice < 20 || regions.empty()) {
    damageFile(victim.hsaco, random);
    return;
  }
  static constexpr struct {
    unsigned below;
    RegionKind kind;
  } shares[] = {{23, RegionKind::header},   {29, RegionKind::segments},
                {35, RegionKind::sections}, {41, RegionKind::symbols},
                {53, RegionKind::notes},    {63, RegionKind::descriptors},
                {100, RegionKind::code}};
  const auto share = std::ranges::find_if(shares, [&](auto &row) { return choice < row.below; });
  std::vector<Region> ofKind;
  std::ranges::copy_if(regions, std::back_inserter(ofKind),
                       [&](const Region &region) { return region.kind == share->kind; });
  if (ofKind.empty()) {
    damageFile(victim.hsaco, random);
    return;
  }
  const Region &region = ofKind[random() % ofKind.size()];
  const auto bytes = std::span(victim.hsaco).subspan(region.offset, region.bytes);
  if (region.kind == RegionKind::code) {
    damageCode(bytes, random);
  } else if (region.kind == RegionKind::notes && random() % 3 != 0) {
    random() % 3 ? damageMetadata(bytes, random) : damageMessagePack(bytes, random);
  } else {
    damageField(bytes, random, victim.hsaco.size());
  }
}

Victim Mutator::make(std::uint64_t number) const {
  std::mt19937_64 random(number);
  Victim victim = seeds[random() % seeds.size()];
  for (unsigned left = 1 + random() % 4; left > 0; --left) {
    damage(victim, random);
  }
  return victim;
}

} // namespace kw::test
