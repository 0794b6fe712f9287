#include "explorer/wakeup_tree.h"

#include "model/check.h"

namespace warpcheck {

void WakeupTree::clear() {
  branches_.assign(1, Branch{});
  free_.clear();
  live_ = 0;
}

BranchId WakeupTree::make(AgentId agent, uint16_t choice, const Operation& op) {
  BranchId id = static_cast<BranchId>(branches_.size());
  if (free_.empty()) {
    branches_.emplace_back();
  } else {
    id = free_.back();
    free_.pop_back();
  }
  ++live_;
  branches_[id] = {agent, choice, kNoBranch, kNoBranch, kNoBranch, op};
  return id;
}

BranchId WakeupTree::append(BranchId node, AgentId agent, uint16_t choice, const Operation& op) {
  BranchId result = kNoBranch;
  for (uint16_t k = 0; k < op.choices; ++k) {
    const uint16_t c = k == 0 ? choice : k <= choice ? static_cast<uint16_t>(k - 1) : k;  // `choice` first
    const BranchId id = make(agent, c, op);
    Branch& parent = branches_[node];
    if (parent.first_child == kNoBranch) {
      parent.first_child = id;
    } else {
      branches_[parent.last_child].next = id;
    }
    parent.last_child = id;
    if (k == 0) result = id;
  }
  return result;
}

void WakeupTree::release(BranchId id) {
  stack_.assign(1, id);
  while (!stack_.empty()) {
    const BranchId top = stack_.back();
    stack_.pop_back();
    for (BranchId c = branches_[top].first_child; c != kNoBranch; c = branches_[c].next) stack_.push_back(c);
    free_.push_back(top);
    --live_;
  }
}

void WakeupTree::remove_first(BranchId node) {
  Branch& parent = branches_[node];
  const BranchId first = parent.first_child;
  CHECK(first != kNoBranch);
  parent.first_child = branches_[first].next;
  if (parent.first_child == kNoBranch) parent.last_child = kNoBranch;
  release(first);
}

void WakeupTree::remove_all(BranchId node) {
  while (!is_leaf(node)) remove_first(node);
}

void WakeupTree::keep_first(BranchId node) {
  const BranchId first = branches_[node].first_child;
  while (branches_[first].next != kNoBranch) {
    const BranchId second = branches_[first].next;
    branches_[first].next = branches_[second].next;
    release(second);
  }
  branches_[node].last_child = first;
}

// The first branch with which the sequence is consistent.
BranchId WakeupTree::matching_child(BranchId node, const Sequence& sequence, Initial* initial) const {
  AgentId refused = kNoAgent;  // choices lie side by side: ask once
  for (BranchId c = branches_[node].first_child; c != kNoBranch; c = branches_[c].next) {
    const Branch& branch = branches_[c];
    if (branch.agent == refused) continue;
    *initial = sequence.weak_initial(branch.agent, branch.op);
    if (*initial == Initial::kNo) {
      refused = branch.agent;
    } else if (*initial == Initial::kIndependent || sequence.first_choice_is(branch.agent, branch.choice)) {
      return c;
    }
  }
  return kNoBranch;
}

WakeupTree::Inserted WakeupTree::insert(BranchId node, Sequence& sequence) {
  Inserted result{false, !sequence.reversed_last()};
  for (;;) {
    Initial initial = Initial::kNo;
    const BranchId child = matching_child(node, sequence, &initial);
    if (child == kNoBranch) break;
    if (initial != Initial::kInKept) result.settled = false;
    if (is_leaf(child)) return result;
    const Branch branch = branches_[child];
    sequence.put_first(branch.agent, branch.op);
    node = child;
    if (sequence.empty()) return result;
  }
  for (size_t i = 0; i < sequence.size(); ++i) {
    const Event& event = sequence[i];
    node = append(node, event.agent, event.choice, event.op);
  }
  result.added = true;
  return result;
}

}  // namespace warpcheck
