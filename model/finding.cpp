#include "model/finding.h"

namespace warpcheck {

const char* name(FindingKind kind) {
  switch (kind) {
    case FindingKind::kRace: return "race";
    case FindingKind::kDeadlock: return "deadlock";
    case FindingKind::kBarrierMisuse: return "barrier-misuse";
    case FindingKind::kUnawaitedAsync: return "unawaited-async";
    case FindingKind::kLifetime: return "lifetime";
    case FindingKind::kRegisterHazard: return "register-hazard";
    case FindingKind::kOutOfBounds: return "out-of-bounds";
    case FindingKind::kUninitializedRead: return "uninitialized-read";
    case FindingKind::kMisaligned: return "misaligned";
    case FindingKind::kDivergence: return "divergence";
    case FindingKind::kAssertion: return "assertion";
    case FindingKind::kWrongResult: return "wrong-result";
    case FindingKind::kNondeterminism: return "nondeterminism";
    case FindingKind::kLimit: return "limit";
    case FindingKind::kUnsupported: return "unsupported";
  }
  return "";
}

const char* name(Cause cause) {
  switch (cause) {
    case Cause::kNone: return "";
    case Cause::kAwaitedByAnother: return "awaited by another thread";
    case Cause::kOnlyReadSide: return "only the read side awaited";
    case Cause::kNotPipelined: return "not pipelined";
    case Cause::kNotAwaited: return "completion not awaited";
    case Cause::kScope: return "scope too narrow";
    case Cause::kProxyFence: return "missing proxy fence";
    case Cause::kNoSynchronization: return "no synchronization";
  }
  return "";
}

bool same_finding(const Finding& a, const Finding& b) {
  if (a.kind != b.kind || a.cause != b.cause || a.object != b.object || a.sites.size() != b.sites.size()) return false;
  for (size_t i = 0; i < a.sites.size(); ++i) {
    if (a.sites[i].site != b.sites[i].site || a.sites[i].role != b.sites[i].role) return false;
  }
  return true;
}

}  // namespace warpcheck
