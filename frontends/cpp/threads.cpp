#include "frontends/cpp/threads.h"

#include <algorithm>
#include <cstring>
#include <exception>

#include "model/check.h"

namespace warpcheck {

namespace {

bool differs(uint64_t value, uint64_t operand) { return value != operand; }

// May a loop poll with it? If it finds what it found before and changes nothing, it has done nothing.
bool may_poll(const Operation& op) {
  if (op.predicate != nullptr) return false;
  if (op.kind == OpKind::kLoad) return true;
  return op.kind == OpKind::kUpdate && (op.rmw == Rmw::kCompareSwap || op.rmw == Rmw::kExchange);
}

bool same(const Operation& a, const Operation& b) {
  return a.kind == b.kind && a.rmw == b.rmw && a.object == b.object && a.begin == b.begin && a.size == b.size &&
         a.operand == b.operand && a.compare == b.compare;
}

}  // namespace

// The fibers of forked warps use each other's frames: those of a warpgroup cannot start anew alone.
CppThreads::CppThreads(Launch& launch) : launch_(launch), sites_(launch.sites) {
  states_.resize(launch.seats.size());
}

CppThreads::~CppThreads() { unwind_all(); }

// Forked warps lie above their warpgroup, whose frames they use: they go first.
void CppThreads::unwind_all() {
  for (size_t i = states_.size(); i-- > 0;) {
    if (states_[i] != nullptr) states_[i]->fiber.unwind();
  }
}

ThreadState& CppThreads::state(ThreadId thread) {
  const auto component = static_cast<size_t>(thread);
  CHECK(component < states_.size());
  if (states_[component] == nullptr) {
    states_[component] = std::make_unique<ThreadState>(*this, launch_.seats[component], machine_->journal());
    states_[component]->id = thread;
  }
  return *states_[component];
}

void CppThreads::reset(GpuMachine& machine) {
  unwind_all();
  machine_ = &machine;
  for (size_t i = 0; i < states_.size(); ++i) {
    if (launch_.seats[i].lane != 0) continue;
    ThreadState& thread = state(static_cast<ThreadId>(i));
    thread.body = &thread.seat.role->body;
    thread.log.forget();
    thread.started = false;
    start(thread);
  }
}

void CppThreads::start(ThreadState& thread) {
  thread.forked = thread.merged = thread.posted = thread.polling = thread.asks = thread.feeding = false;
  thread.last_site = kNoSite;
  thread.actions = thread.stops = thread.loads = thread.cluster_phase = 0;
  thread.position = 0;
  thread.fiber.start(run, &thread);
}

void CppThreads::start_warp(ThreadId id, const Kernel::Body& body) {
  ThreadState& warp = state(id);
  warp.body = &body;
  warp.log.forget();
  warp.started = false;
  start(warp);
}

void CppThreads::end_warp(ThreadId id) {
  ThreadState& warp = state(id);
  warp.merged = true;
  warp.fiber.resume();
  CHECK(!warp.fiber.active());
}

void CppThreads::run(void* argument) {
  auto& thread = *static_cast<ThreadState*>(argument);
  CppThreads& threads = thread.threads;
  Thread api(thread);
  try {
    (*thread.body)(api);
  } catch (...) {
    if (thread.fiber.unwinding()) return;
    threads.report_exception(thread);
  }
  if (thread.fiber.unwinding()) return;
  if (thread.seat.lane == 0) {
    threads.end_thread(thread);
  } else {
    api.join_warpgroup();
  }
}

// Threads that have ended count as arrived at barriers without a count.
void CppThreads::end_thread(ThreadState& thread) {
  const auto exit = [&](ObjectId barrier) {
    const Operation op{.kind = OpKind::kBarrierExit, .object = barrier, .operand = thread.seat.role->lanes};
    thread.op = {.op = op, .site = thread.last_site};
    take(thread);
    return !thread.fiber.unwinding();
  };
  const uint32_t block = thread.seat.block;
  if (launch_.exits_block_barrier && !exit(machine_->named_barrier(block, 0))) return;
  if (launch_.exits_cluster_barrier && !exit(machine_->cluster_barrier(block / launch_.grid.cluster))) return;
  machine_->finish(thread.id);
}

void CppThreads::report(const ThreadState& thread, FindingKind kind, std::string message, std::string role) {
  if (thread.feeding) return;
  Finding finding;
  finding.kind = kind;
  finding.message = std::move(message);
  finding.sites.push_back(machine_->site_of_thread(thread.id, 0, std::move(role), thread.last_site));
  machine_->report(std::move(finding));
}

void CppThreads::report_exception(const ThreadState& thread) {
  std::string message;
  try {
    throw;
  } catch (const Stopped&) {
    return;
  } catch (const std::exception& error) {
    message = std::string("uncaught exception: ") + error.what();
  } catch (...) {
    message = "uncaught exception of a type not derived from std::exception";
  }
  report(thread, FindingKind::kAssertion, std::move(message), "throws after");
}

void CppThreads::resume(ThreadId id) {
  ThreadState& thread = *states_[static_cast<size_t>(id)];
  bool went_on = false;
  if (thread.started) {
    const size_t known = thread.log.size();
    log_outcome(thread);
    went_on = thread.position != known && feed(thread);
    if (!went_on) thread.read_outcome();
  }
  thread.started = true;
  if (!went_on) thread.fiber.resume();
  while (thread.asks) {
    answer(thread);
    thread.fiber.resume();
  }
  if (!thread.posted) return;
  thread.posted = false;
  if (launch_.detect_spins) turn_poll_into_wait(thread);
  machine_->post(id, thread.op);
}

// --- going back

void CppThreads::log_outcome(ThreadState& thread) {
  const Answer& last = machine_->last_outcome(thread.id);
  thread.log.push_back(last.result);
  thread.log.push_back(uint64_t{machine_->last_choice(thread.id)} << 32 | last.phase);
}

bool CppThreads::polls(const Operation& op) const { return launch_.detect_spins && may_poll(op); }

// Up to the operation whose outcome is the last of the log, or beyond. At one that may poll the fiber stops as it did when
// it was posted, so that its stack is remembered; the machine has the operation already.
bool CppThreads::feed(ThreadState& thread) {
  thread.fiber.unwind();
  start(thread);
  thread.feeding = true;
  thread.fiber.resume();
  CHECK(!thread.feeding);
  if (thread.position == thread.log.size()) return true;
  CHECK(thread.posted && thread.position + 2 == thread.log.size());
  thread.posted = false;
  thread.polling = true;
  thread.polled = thread.op.op;
  thread.polled_site = thread.op.site;
  thread.fiber.remember();
  return false;
}

const Seen& CppThreads::take(ThreadState& thread) {
  if (const Seen* seen = thread.fed()) return *seen;
  thread.last_site = thread.op.site;
  if (thread.feeding) {
    thread.feeding = false;
    if (!polls(thread.op.op)) return *thread.read_outcome();
  }
  thread.posted = true;
  thread.fiber.suspend();
  return thread.seen;
}

void CppThreads::load(ThreadState& thread, const Range& from, void* to) {
  const size_t words = (from.bytes + 7) / 8;
  const auto each = [&](auto&& word) {
    for (size_t i = 0; i < words; ++i) word(static_cast<uint8_t*>(to) + 8 * i, std::min<size_t>(8, from.bytes - 8 * i));
  };
  if (thread.feeding) {
    each([&](uint8_t* at, size_t bytes) { std::memcpy(at, &thread.log[thread.position++], bytes); });
    return;
  }
  machine_->load(thread.id, thread.seat.lane, from, to);
  if (!can_rewind_) return;
  each([&](const uint8_t* at, size_t bytes) {
    uint64_t value = 0;
    std::memcpy(&value, at, bytes);
    thread.log.push_back(value);
  });
  thread.position = thread.log.size();
}

// --- polls

// The counts start anew, so that they do not tell one question from the next when they linger in registers.
void CppThreads::answer(ThreadState& thread) {
  if (can_rewind_) {  // the question is about the stack, which a fed fiber would have to build up in the same way
    can_rewind_ = false;
    machine_->forbid_rewind();
  }
  thread.asks = thread.polling = false;
  thread.recurs = thread.asked > 0 && thread.fiber.recurs();
  if (!thread.recurs) thread.fiber.remember();
  const bool enough = ++thread.asked > kMaxActions / kLoadsBetweenAsking;
  thread.actions = enough ? kMaxActions : 1;
  thread.loads = 1;
}

// A loop that repeats one operation, has learned nothing from it and changed nothing by it, waits until the word
// differs.
void CppThreads::turn_poll_into_wait(ThreadState& thread) {
  Operation& op = thread.op.op;
  if (!may_poll(op)) {
    thread.polling = false;
    return;
  }
  if (thread.polling && thread.actions == 0 && thread.polled_site == thread.op.site && same(thread.polled, op)) {
    const Answer& last = machine_->last_outcome(thread.id);
    const bool unchanged = last.effect == Effect::kRead || (op.rmw == Rmw::kExchange && last.result == op.operand);
    if (unchanged && thread.fiber.recurs()) {
      op.predicate = &differs;
      op.predicate_operand = last.result;
      return;
    }
  }
  thread.polling = true;
  thread.polled = op;
  thread.polled_site = thread.op.site;
  thread.fiber.remember();
}

void CppThreads::end_of_run(GpuMachine& machine, bool deadlocked) {
  if (deadlocked) return;
  for (const Expectation& expected : launch_.expectations) {
    const RegionId region = launch_.region(expected.place, 0);
    const std::span<const uint8_t> found = machine.bytes(region).subspan(expected.place.offset);
    for (size_t at = 0; at < expected.values.size(); at += expected.element_bytes) {
      if (std::memcmp(&found[at], &expected.values[at], expected.element_bytes) == 0) continue;
      if (machine.confined()) {
        machine.note_unmet({region, expected.place.offset + at, expected.element_bytes});
        continue;
      }
      int64_t is = 0, should = 0;
      if (expected.element_bytes <= sizeof is) {
        std::memcpy(&is, &found[at], expected.element_bytes);
        std::memcpy(&should, &expected.values[at], expected.element_bytes);
      }
      Finding finding;
      finding.kind = FindingKind::kWrongResult;
      finding.object = machine.range_name({region, expected.place.offset + at, expected.element_bytes});
      finding.message =
          finding.object + " is " + std::to_string(is) + " at the end, expected " + std::to_string(should);
      machine.report(std::move(finding));
      break;
    }
  }
}

std::string CppThreads::instruction(SiteId site) const { return launch_.sites.site(site).instruction; }

}  // namespace warpcheck
