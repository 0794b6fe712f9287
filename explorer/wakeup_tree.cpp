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
  const BranchId id = make(agent, choice, op);
  Branch& parent = branches_[node];
  if (parent.first_child == kNoBranch) {
    parent.first_child = id;
  } else {
    branches_[parent.last_child].next = id;
  }
  parent.last_child = id;
  return id;
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

// From the agent's first branch on: is there a branch or a sleeper for each of its choices?
bool WakeupTree::all_choices_taken(BranchId first, const ChoicesAsleep& asleep) const {
  const Branch& branch = branches_[first];
  if (branch.op.choices == 1) return true;
  uint32_t taken = asleep ? asleep(branch.agent) : 0;
  for (BranchId c = first; c != kNoBranch; c = branches_[c].next) taken += branches_[c].agent == branch.agent ? 1 : 0;
  return taken >= branch.op.choices;
}

// The first branch with which the sequence is consistent.
BranchId WakeupTree::matching_child(BranchId node, const Sequence& sequence, const ChoicesAsleep& asleep,
                                    Initial* initial) const {
  for (BranchId c = branches_[node].first_child; c != kNoBranch; c = branches_[c].next) {
    const Branch& branch = branches_[c];
    *initial = sequence.weak_initial(branch.agent, branch.op);
    if (*initial == Initial::kNo) continue;
    if (*initial == Initial::kIndependent ? all_choices_taken(c, asleep)
                                          : sequence.first_choice_is(branch.agent, branch.choice)) {
      return c;
    }
  }
  return kNoBranch;
}

WakeupTree::Inserted WakeupTree::insert_below_each(BranchId first, const Sequence& sequence) {
  Inserted result;
  const AgentId agent = branches_[first].agent;
  for (BranchId c = first; c != kNoBranch; c = branches_[c].next) {
    if (branches_[c].agent != agent || is_leaf(c)) continue;
    Sequence copy = sequence;
    copy.put_first(agent, Operation(branches_[c].op));
    result.added = insert(c, copy, nullptr).added || result.added;
  }
  return result;
}

WakeupTree::Inserted WakeupTree::insert(BranchId node, Sequence& sequence, const ChoicesAsleep& choices_asleep) {
  static const ChoicesAsleep kNobody;
  const bool stands_for_all = sequence.stands_for_all();
  Inserted result{false, true};
  for (bool top = true;; top = false) {
    Initial initial = Initial::kNo;
    const BranchId child = matching_child(node, sequence, top ? choices_asleep : kNobody, &initial);
    if (child == kNoBranch) break;
    if (initial != Initial::kInKept) result.settled = false;
    const Operation op = branches_[child].op;
    if (initial == Initial::kIndependent && op.choices > 1) return insert_below_each(child, sequence);
    if (is_leaf(child)) return result;
    sequence.put_first(branches_[child].agent, op);
    node = child;
    if (sequence.empty()) return result;
  }
  for (size_t i = 0; i < sequence.size(); ++i) {
    const Event& event = sequence[i];
    node = append(node, event.agent, event.choice, event.op);
  }
  result.added = true;
  result.settled = result.settled && stands_for_all;
  return result;
}

}  // namespace warpcheck
