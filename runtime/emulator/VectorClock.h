// Kernelwright
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// What one wave knows of all others (GlobalOrder.h). Thousands of waves hand such knowledge on,
// each with little added: a clock is a tree whose branches are shared with the clocks it came from,
// so that a copy costs nothing, adding a wave a path, and a join what the two do not share.
#pragma once

#include <array>
#include <boost/smart_ptr/intrusive_ptr.hpp>
#include <boost/smart_ptr/intrusive_ref_counter.hpp>
#include <cstdint>

namespace kw::detail {

constexpr int maxGroupWaves = 16;

/// Up to which interval of another wave accesses were issued, completed or written through, written
/// back.
struct Reach {
  std::uint32_t issued = 0, through = 0, back = 0;
  void join(const Reach &other);
  bool operator==(const Reach &) const = default;
};

/// By wave of the launch: WaveOrder::uid, maxGroupWaves for each workgroup. Clocks that share
/// branches belong to one thread.
class VectorClock {
public:
  /// Null: nothing is known.
  const Reach *find(std::uint64_t uid) const;
  void raise(std::uint64_t uid, const Reach &reach);
  void join(const VectorClock &other);

private:
  static constexpr unsigned fanBits = 4, fan = 1 << fanBits;

  struct Node : boost::intrusive_ref_counter<Node, boost::thread_unsafe_counter> {
    virtual ~Node() = default;
  };
  using NodeRef = boost::intrusive_ptr<Node>;
  struct Leaf : Node {
    std::array<Reach, maxGroupWaves> waves;
  };
  struct Inner : Node {
    std::array<NodeRef, fan> children;
  };

  static const Leaf &leaf(const Node &node) { return static_cast<const Leaf &>(node); }
  static const Inner &inner(const Node &node) { return static_cast<const Inner &>(node); }
  template <class Kind> static Kind &own(NodeRef &node);
  static NodeRef joined(const NodeRef &a, const NodeRef &b, unsigned height);
  void grow(unsigned newHeight);

  NodeRef root;        ///< a leaf (one workgroup) at height 0
  unsigned height = 0; ///< the root covers fan^height workgroups
};

} // namespace kw::detail
