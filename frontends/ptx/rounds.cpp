#include "frontends/ptx/rounds.h"

#include <algorithm>

namespace warpcheck::ptx {
namespace {

const Visit* latest(const Fragment& fragment, ObjectId object) {
  for (auto visit = fragment.visits.rbegin(); visit != fragment.visits.rend(); ++visit) {
    if (visit->object == object) return &*visit;
  }
  return nullptr;
}

const Visit* before(const Fragment& fragment, const Visit& visit) {
  const Visit* made = nullptr;
  for (const Visit& other : fragment.visits) {
    if (&other == &visit) break;
    if (other.pc == visit.pc && other.object == visit.object) made = &other;
  }
  return made;
}

// Objects visited after `since`; false if one of these visits was not steady.
bool collect(const Fragment& fragment, uint64_t since, std::vector<ObjectId>& objects) {
  for (const Visit& visit : fragment.visits) {
    if (visit.stamp <= since) continue;
    if (!visit.steady) return false;
    if (std::find(objects.begin(), objects.end(), visit.object) == objects.end()) objects.push_back(visit.object);
  }
  return true;
}

bool polls_another(const Fragment& fragment, uint64_t address, uint64_t since) {
  return std::any_of(fragment.polled.begin(), fragment.polled.end(),
                     [&](const Polled& polled) { return polled.address != address && polled.stamp > since; });
}

}  // namespace

uint64_t digest_of(const Fragment& fragment, const Code& code, LaneMask lanes) {
  uint64_t digest = lanes;
  for (const uint32_t slot : code.live) {
    each_lane(lanes, [&](uint32_t lane) {
      digest = (digest ^ fragment.warp->slots[slot].lane[lane]) * 0x9e3779b97f4a7c15ULL;
      digest ^= digest >> 29;
    });
  }
  return digest;
}

void note_visit(Interpreter& interpreter, Fragment& fragment, const Code& code) {
  Visit visit;
  visit.pc = index(code.site);
  visit.object = fragment.object;
  visit.stamp = interpreter.next_stamp();
  if (code.in_round) {
    visit.registers = digest_of(fragment, code, fragment.path().lanes);
    visit.effects = fragment.effects;
    for (auto other = fragment.visits.rbegin(); other != fragment.visits.rend(); ++other) {
      if (other->pc != visit.pc || other->object != visit.object) continue;
      visit.steady = other->registers == visit.registers && other->effects == visit.effects && other->in_round;
      break;
    }
    visit.in_round = true;
  } else {
    fragment.poll.pc = kNone;
    fragment.effects = interpreter.next_stamp();
  }
  if (fragment.visits.size() == kVisitsKept) fragment.visits.erase(fragment.visits.begin());
  fragment.visits.push_back(visit);
}

Rounds rounds(Interpreter& interpreter, const Fragment& fragment, uint64_t address) {
  std::vector<ObjectId> objects;
  if (fragment.visits.size() == kVisitsKept && fragment.visits.front().stamp > fragment.poll.stamp) return Rounds::kUnsteady;
  if (!collect(fragment, fragment.poll.stamp, objects)) return Rounds::kUnsteady;
  bool several = polls_another(fragment, address, fragment.poll.stamp);
  for (size_t i = 0; i < objects.size(); ++i) {
    bool steady = true;
    interpreter.each_fragment_of(fragment.warp->block, [&](Fragment& other) {
      if (!steady || &other == &fragment) return;
      const Visit* visit = latest(other, objects[i]);
      if (visit == nullptr) return;
      const Visit* round = before(other, *visit);
      steady = visit->steady && round != nullptr && other.effects == visit->effects && collect(other, round->stamp, objects);
      several |= steady && polls_another(other, address, round->stamp);
    });
    if (!steady) return Rounds::kUnsteady;
  }
  return several ? Rounds::kSeveralWords : Rounds::kSteady;
}

void find_rounds(const ControlFlow& flow, Kernel& kernel, const std::vector<std::vector<uint32_t>>& live) {
  const std::vector<uint32_t> cycles = flow.cycles();
  std::vector<uint32_t> polling;
  for (uint32_t i = 0; i < cycles.size(); ++i) {
    if (cycles[i] != kNone && !kernel.code[i].live.empty()) polling.push_back(cycles[i]);
  }
  for (uint32_t i = 0; i < cycles.size(); ++i) {
    Code& code = kernel.code[i];
    if (!code.meets || cycles[i] == kNone || std::find(polling.begin(), polling.end(), cycles[i]) == polling.end()) continue;
    code.in_round = true;
    code.live = live[i];
    kernel.has_rounds = true;
  }
}

}  // namespace warpcheck::ptx
