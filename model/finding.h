// What a machine reports about a kernel: violations with their sites and causes. Values, never exceptions.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "model/ids.h"

namespace warpcheck {

enum class FindingKind : uint8_t {
  kRace, kDeadlock, kBarrierMisuse, kUnawaitedAsync, kLifetime, kRegisterHazard, kOutOfBounds, kUninitializedRead,
  kMisaligned, kDivergence, kAssertion, kWrongResult, kNondeterminism,
  kLimit,        // a bound inside the machine was hit: the verdict is then at best incomplete
  kUnsupported,  // something that the frontend cannot run was reached: likewise
};

enum class Cause : uint8_t {
  kNone, kAwaitedByAnother, kOnlyReadSide, kNotPipelined, kNotAwaited, kScope, kProxyFence, kNoSynchronization,
};

const char* name(FindingKind kind);  // as in the JSON: "race", "barrier-misuse", ...
const char* name(Cause cause);       // "missing proxy fence", ...; "" for kNone

// kLimit and kUnsupported hide executions instead of showing a fault.
constexpr bool makes_incomplete(FindingKind kind) {
  return kind == FindingKind::kLimit || kind == FindingKind::kUnsupported;
}

struct SourceLine {
  std::string file;
  uint32_t line = 0;
  friend bool operator==(const SourceLine&, const SourceLine&) = default;
};

// A place in the kernel.
struct Site {
  std::string instruction;             // "st.shared.u32", "store"
  SourceLine at;
  std::vector<SourceLine> inlined_at;  // innermost call first
};

struct FindingSite {
  std::string agent;  // "warp 0 lanes 0-31", "copy 3 of warp 0"
  std::string role;   // "generic write", "async read", "wait", ...
  SiteId site = kNoSite;
  AgentId id = kNoAgent;
  uint32_t step = 0;  // how many steps of the run had been taken when it acted
};

struct Finding {
  FindingKind kind = FindingKind::kRace;
  Cause cause = Cause::kNone;
  bool strict = false;      // only the strict reading makes it
  bool after_race = false;  // an error-level race came before it in the execution
  std::string object;       // "shared ring", "mbarrier full[1]": part of a finding's identity
  std::string range;        // "[0..31]": elements met in this execution; not part of the identity
  std::string message;      // one sentence: what is not ordered, who waits for what
  std::vector<FindingSite> sites;
};

// Distinct findings are those with distinct (kind, cause, sites, objects); `strict` is not looked at.
bool same_finding(const Finding& a, const Finding& b);

}  // namespace warpcheck
