// Kernelwright
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The operator o = softmax(score(scale * q k^T) + mask) v, forward, per batch entry and query head;
// hq / hkv query heads share one head of k and v. A row without any visible column gives o = 0 and
// lse = -infinity. lse is the natural logarithm of the sum of exponentials.
#pragma once

#include "ir/ElementType.h"
#include "ir/support/Expected.h"

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace kw {

enum class MaskKind : std::uint8_t {
  none,
  causal,   ///< bottom right aligned: query s sees columns up to skv - sq + s
  window,   ///< causal, and of those the last `maskSize`
  prefix,   ///< causal, and the first `maskSize` columns for all
  document, ///< equal document numbers in a file
};

enum class ScoreKind : std::uint8_t { none, alibi, softcap };

/// Storage order of q, k, v and o, outermost first: batch, heads, sequence, head dimension.
enum class AttentionLayout : std::uint8_t { bhsd, bshd };

/// Sequences of the same lengths.
struct SequenceLength {
  std::int64_t queries = 0, columns = 0;
  std::int64_t count = 0;
  bool operator==(const SequenceLength &) const = default;
};

struct Attention {
  std::int64_t b = 0, hq = 0, hkv = 0, sq = 0, skv = 0, d = 0, dv = 0;
  ElementType type = ElementType::bf16;    ///< of q
  ElementType kvType = ElementType::bf16;  ///< of k and v
  ElementType outType = ElementType::bf16; ///< of o
  MaskKind mask = MaskKind::none;
  std::int64_t maskSize = 0; ///< columns of window and prefix
  std::string maskFile;      ///< of document
  ScoreKind score = ScoreKind::none;
  double softcap = 0;
  double scale = 1; ///< the parser fills in d^-0.5
  bool lse = false; ///< lse is a result too
  AttentionLayout layout = AttentionLayout::bhsd;
  std::string varlenFile; ///< lengths of the sequences; empty: all alike
  std::int64_t page = 0;  ///< columns of a page of k and v; 0: contiguous
  bool sinks = false;     ///< one more score a head that takes part in the sum alone

  // What the files say, once they were read; no part of a problem's identity.
  /// The different lengths, longest first: without varlen one, with it what its file says.
  std::vector<SequenceLength> lengths;
  std::vector<std::int64_t> documentEnds; ///< of mask=document: columns behind each document

  bool operator==(const Attention &other) const;

  /// Query heads that share a head of k and v.
  std::int64_t group() const { return hq / hkv; }
  /// Query rows that read the same k and v: query s of head h of the group is row s * group + h.
  std::int64_t packedRows() const { return sq * group(); }
  /// Multi-head latent attention: v is the front part of k.
  bool latent() const { return d == 576 && dv == 512 && hkv == 1; }
};

/// Elements from one batch entry, head and sequence position to the next.
struct AttentionStrides {
  std::int64_t batch = 0, head = 0, sequence = 0;
};

/// From the text of a varlen file: for each batch entry a line with its number of queries and of
/// columns, or one number for both. At most sq and skv. Errors name the line.
Expected<void> readSequenceLengths(Attention &op, std::string_view text);

/// From the text of a document file: the number of its document for each of skv columns, separated
/// by blanks or ends of lines; columns of a document follow one another.
Expected<void> readDocuments(Attention &op, std::string_view text);

AttentionStrides attentionStrides(AttentionLayout layout, std::int64_t heads, std::int64_t sequence,
                                  std::int64_t dimension);

} // namespace kw
