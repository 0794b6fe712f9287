// Wakeup trees: for each frame of a search, the branches still to be explored from it ("Source sets", section 4.2).
//
// One tree holds those of all frames: the node of a frame is the branch that led to it from the frame above, the first
// child of a node is the branch in progress, the others wait in order. A branch is a step (agent, choice) with the
// operation that the agent offers there. Invariants:
// (1) A branch inserted behind others is not equivalent to a sequence that begins with one of them.
// (2) After all steps of a leaf that was inserted, nothing that sleeps now still sleeps (but for some, not all, choices
//     of an agent): what lies below a leaf may be explored freely.
//
// Choices: a branch stands for its own choice only. So a sequence in which an agent with choices does not occur, and which
// is independent of its step, goes below the agent's branches only if there is one, or a sleeper, for each choice; then it
// goes below each of them.
//
// Nodes are recycled. Not thread-safe.
#pragma once

#include <cstdint>
#include <functional>
#include <vector>

#include "explorer/sequence.h"
#include "model/operation.h"

namespace warpcheck {

using BranchId = uint32_t;
constexpr BranchId kNoBranch = 0xffffffffU;

class WakeupTree {
 public:
  struct Branch {
    AgentId agent = kNoAgent;
    uint16_t choice = 0;
    BranchId first_child = kNoBranch, last_child = kNoBranch, next = kNoBranch;
    Operation op;
  };

  WakeupTree() { clear(); }
  void clear();

  BranchId root() const { return 0; }
  const Branch& operator[](BranchId id) const { return branches_[id]; }
  bool is_leaf(BranchId id) const { return branches_[id].first_child == kNoBranch; }
  size_t live() const { return live_; }

  // Appends a step behind the node's branches.
  BranchId append(BranchId node, AgentId agent, uint16_t choice, const Operation& op);

  // Calls see(depth, branch) for all branches below the node, in preorder; its children have depth 0.
  template <class See>
  void visit_below(BranchId node, See see) const {
    std::vector<BranchId> path = {branches_[node].first_child};
    while (!path.empty()) {
      const BranchId id = path.back();
      if (id == kNoBranch) {
        path.pop_back();
        if (!path.empty()) path.back() = branches_[path.back()].next;
        continue;
      }
      see(static_cast<uint32_t>(path.size() - 1), branches_[id]);
      path.push_back(branches_[id].first_child);
    }
  }

  // Removes the node's first branch and all below.
  void remove_first(BranchId node);

  // Removes all branches of a node, or all but the first.
  void remove_all(BranchId node);
  void keep_first(BranchId node);

  // insert_[E'](v, wut(E')): adds the sequence unless a branch already leads to an equivalent continuation of it.
  // Consumes the sequence. choices_asleep(agent): how many of its choices sleep at the node.
  struct Inserted {
    bool added = false;
    bool settled = false;  // as for every sequence with the same u and e'
  };
  using ChoicesAsleep = std::function<uint32_t(AgentId)>;
  Inserted insert(BranchId node, Sequence& sequence, const ChoicesAsleep& choices_asleep);

 private:
  BranchId make(AgentId agent, uint16_t choice, const Operation& op);
  void release(BranchId id);
  BranchId matching_child(BranchId node, const Sequence& sequence, const ChoicesAsleep& asleep, Initial* initial) const;
  bool all_choices_taken(BranchId first, const ChoicesAsleep& asleep) const;
  Inserted insert_below_each(BranchId first, const Sequence& sequence);

  std::vector<Branch> branches_;
  std::vector<BranchId> free_, stack_;
  size_t live_ = 0;
};

}  // namespace warpcheck
