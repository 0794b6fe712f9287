// Which loads the values in registers come from, for races whose value may never matter: a race with a load is an error
// only if the value takes effect (is stored, or used as address, predicate or operand).
//
// Only loads whose value does not take effect for certain are followed (Decoder decides). Values carry a node: a load, or
// what two nodes were combined into. Nodes live for a run. Not thread-safe.
#pragma once

#include <cstdint>
#include <vector>

namespace warpcheck::ptx {

using LoadNode = uint32_t;  // 0: none

class LoadValues {
 public:
  void reset() {
    nodes_.assign(1, {});
    seen_ = 0;
  }

  LoadNode leaf(uint32_t load) { return add({load, 0, 0, 0}); }
  LoadNode join(LoadNode a, LoadNode b) {
    if (a == b || b == 0) return a;
    if (a == 0) return b;
    if (nodes_.back().first == a && nodes_.back().second == b) return static_cast<LoadNode>(nodes_.size() - 1);
    return add({0, a, b, 0});
  }

  // Calls f(load) for each load of the node. Nodes share what they were made of: each is visited once.
  template <class F>
  void each(LoadNode node, F&& f) {
    ++seen_;
    std::vector<LoadNode> open = {node};
    while (!open.empty()) {
      Node& next = nodes_[open.back()];
      open.pop_back();
      if (next.seen == seen_) continue;
      next.seen = seen_;
      const uint32_t load = next.load;
      if (next.first != 0) open.push_back(next.first);
      if (next.second != 0) open.push_back(next.second);
      if (load != 0) f(load);
    }
  }

 private:
  struct Node {
    uint32_t load = 0;
    LoadNode first = 0, second = 0;
    uint64_t seen = 0;  // number of the last visit
  };
  LoadNode add(Node node) {
    nodes_.push_back(node);
    return static_cast<LoadNode>(nodes_.size() - 1);
  }

  std::vector<Node> nodes_ = {{}};
  uint64_t seen_ = 0;  // visits so far
};

}  // namespace warpcheck::ptx
