// Kernelwright
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "runtime/emulator/VectorClock.h"

#include <algorithm>

namespace kw::detail {

void Reach::join(const Reach &other) {
  issued = std::max(issued, other.issued);
  through = std::max(through, other.through);
  back = std::max(back, other.back);
}

/// The node to be changed: made, or a copy of its own if others share it.
template <class Kind> Kind &VectorClock::own(NodeRef &node) {
  if (!node) {
    node = new Kind();
  } else if (node->use_count() > 1) {
    node = new Kind(static_cast<const Kind &>(*node));
  }
  return static_cast<Kind &>(*node);
}

const Reach *VectorClock::find(std::uint64_t uid) const {
  const std::uint64_t group = uid / maxGroupWaves;
  if (!root || group >> (fanBits * height) != 0) {
    return nullptr;
  }
  const Node *node = root.get();
  for (unsigned level = height; level > 0 && node; --level) {
    node = inner(*node).children[group >> (fanBits * (level - 1)) & (fan - 1)].get();
  }
  return node ? &leaf(*node).waves[uid % maxGroupWaves] : nullptr;
}

void VectorClock::grow(unsigned newHeight) {
  for (; height < newHeight; ++height) {
    if (root) {
      NodeRef above(new Inner());
      static_cast<Inner &>(*above).children[0] = std::move(root);
      root = std::move(above);
    }
  }
}

void VectorClock::raise(std::uint64_t uid, const Reach &reach) {
  const std::uint64_t group = uid / maxGroupWaves;
  unsigned needed = height;
  while (group >> (fanBits * needed) != 0) {
    ++needed;
  }
  grow(needed);
  NodeRef *node = &root;
  for (unsigned level = height; level > 0; --level) {
    node = &own<Inner>(*node).children[group >> (fanBits * (level - 1)) & (fan - 1)];
  }
  own<Leaf>(*node).waves[uid % maxGroupWaves].join(reach);
}

VectorClock::NodeRef VectorClock::joined(const NodeRef &a, const NodeRef &b, unsigned height) {
  if (!b || a == b) {
    return a;
  }
  if (!a) {
    return b;
  }
  // Where one of the two says it all, it is shared.
  bool isA = true, isB = true;
  const auto choose = [&](NodeRef result) { return isA ? a : isB ? b : result; };
  if (height == 0) {
    auto *result = new Leaf(leaf(*a));
    const NodeRef owner(result);
    for (std::size_t i = 0; i < result->waves.size(); ++i) {
      result->waves[i].join(leaf(*b).waves[i]);
      isA = isA && result->waves[i] == leaf(*a).waves[i];
      isB = isB && result->waves[i] == leaf(*b).waves[i];
    }
    return choose(owner);
  }
  auto *result = new Inner();
  const NodeRef owner(result);
  for (std::size_t i = 0; i < fan; ++i) {
    const NodeRef &left = inner(*a).children[i], &right = inner(*b).children[i];
    result->children[i] = joined(left, right, height - 1);
    isA = isA && result->children[i] == left;
    isB = isB && result->children[i] == right;
  }
  return choose(owner);
}

void VectorClock::join(const VectorClock &other) {
  if (!other.root) {
    return;
  }
  VectorClock right = other;
  const unsigned common = std::max(height, other.height);
  grow(common);
  right.grow(common);
  root = joined(root, right.root, common);
}

} // namespace kw::detail
