#include "explorer/tally.h"

#include <algorithm>
#include <tuple>

#include "explorer/remaining.h"

namespace warpcheck {

namespace {

constexpr double kProgressSeconds = 0.2;

bool same_but_for_strictness(const Finding& a, const Finding& b) {
  if (a.strict == b.strict) return same_finding(a, b);
  Finding c = b;
  c.strict = a.strict;
  return same_finding(a, c);
}

// An order in which a report does not depend on which worker came first.
bool canonically_before(const FoundFinding& a, const FoundFinding& b) {
  const auto head = [](const Finding& f) { return std::tie(f.kind, f.cause, f.object); };
  if (head(a.finding) != head(b.finding)) return head(a.finding) < head(b.finding);
  const auto before = [](const FindingSite& x, const FindingSite& y) {
    return std::tie(x.site, x.agent, x.role) < std::tie(y.site, y.agent, y.role);
  };
  const auto &s = a.finding.sites, &t = b.finding.sites;
  if (std::lexicographical_compare(s.begin(), s.end(), t.begin(), t.end(), before)) return true;
  if (std::lexicographical_compare(t.begin(), t.end(), s.begin(), s.end(), before)) return false;
  return a.finding.message < b.finding.message;
}

bool is_violation(const Finding& finding, const ExploreOptions& options) {
  return !makes_incomplete(finding.kind) && (!finding.strict || options.strict);
}

}  // namespace

static void add_finding(std::vector<FoundFinding>& findings, const Finding& finding, uint64_t execution,
                 const std::function<Schedule()>& schedule) {
  for (FoundFinding& known : findings) {
    if (!same_but_for_strictness(known.finding, finding)) continue;
    if (known.finding.strict && !finding.strict) known = {finding, execution, schedule()};
    return;
  }
  findings.push_back({finding, execution, schedule()});
}

void add_totals(ExploreResult& whole, const ExploreResult& part) {
  for (const FoundFinding& found : part.findings) {
    add_finding(whole.findings, found.finding, whole.executions + found.execution, [&] { return found.schedule; });
  }
  whole.executions += part.executions;
  whole.blocked += part.blocked;
  whole.events += part.events;
  whole.max_depth = std::max(whole.max_depth, part.max_depth);
  whole.seconds += part.seconds;
  if (whole.reached.size() < part.reached.size()) whole.reached.resize(part.reached.size());
  for (size_t i = 0; i < part.reached.size(); ++i) whole.reached[i] = whole.reached[i] || part.reached[i];
  for (const std::string& bound : part.lasting_bounds) {
    if (std::find(whole.lasting_bounds.begin(), whole.lasting_bounds.end(), bound) == whole.lasting_bounds.end()) {
      whole.lasting_bounds.push_back(bound);
    }
  }
}

Tally::Tally(const ExploreOptions& options) : options_(options) {
  if (options.from == nullptr) return;
  add_totals(result_, *options.from);
  lasting_bounds_.insert(result_.lasting_bounds.begin(), result_.lasting_bounds.end());
  bounds_ = lasting_bounds_;
  for (const FoundFinding& found : result_.findings) {
    if (found.finding.kind == FindingKind::kRace && !found.finding.strict) race_seen_ = true;
    if (is_violation(found.finding, options_) && !options_.keep_going) stop_ = true;
  }
}

double Tally::seconds() const {
  return std::chrono::duration<double>(std::chrono::steady_clock::now() - start_).count();
}

void Tally::add(const Ended& ended) {
  const std::lock_guard lock(mutex_);
  if (stop_ || (full_ && ended.end == End::kComplete)) return;
  const bool counts = ended.end == End::kComplete || ended.end == End::kCut;
  (counts ? result_.executions : result_.blocked) += 1;
  result_.events += ended.new_events;
  const uint32_t depth = static_cast<uint32_t>(ended.view->events.size());
  result_.max_depth = std::max(result_.max_depth, depth);
  // A run that ends in a sleep set is a prefix of one that was, or will be, seen whole.
  if (ended.end != End::kBlocked) {
    for (const Finding& finding : ended.findings) add_finding(finding, ended.schedule);
  }
  if (ended.end == End::kCut) {
    Finding limit;
    limit.kind = FindingKind::kLimit;
    limit.message = "an execution has more than " + std::to_string(options_.max_steps) + " steps";
    add_finding(limit, ended.schedule);
  }
  if (options_.on_execution) options_.on_execution(*ended.view);
  if (options_.max_executions != 0 && result_.executions >= options_.max_executions) full_ = true;
  report_progress(depth);
}

void Tally::add_finding(const Finding& finding, const std::function<Schedule()>& schedule) {
  if (finding.kind == FindingKind::kRace && !finding.strict) race_seen_ = true;
  if (is_violation(finding, options_) && !options_.keep_going) stop_ = true;
  warpcheck::add_finding(result_.findings, finding, result_.executions, schedule);
}

void Tally::report_progress(uint32_t depth) {
  if (!options_.on_progress || std::this_thread::get_id() != home_) return;
  const double now = seconds();
  if (now - last_progress_ < kProgressSeconds) return;
  last_progress_ = now;
  options_.on_progress({result_.executions, result_.blocked, depth, now});
}

void Tally::report_progress() {
  const std::lock_guard lock(mutex_);
  report_progress(result_.max_depth);
}

bool Tally::may_go_on() {
  if (full_) note_bound("executions: " + std::to_string(options_.max_executions));
  return !full_ && !out_of_time() && !stop_;
}

bool Tally::out_of_time() {
  if (options_.interrupt != nullptr && *options_.interrupt) {
    note_bound("interrupted");
    return true;
  }
  if (options_.max_seconds > 0 && seconds() > options_.max_seconds) {
    note_bound("seconds: " + std::to_string(static_cast<uint64_t>(options_.max_seconds)));
    return true;
  }
  return false;
}

void Tally::note_bound(const std::string& bound) {
  const std::lock_guard lock(mutex_);
  bounds_.insert(bound);
}

void Tally::note_lasting_bound(const std::string& bound) {
  const std::lock_guard lock(mutex_);
  bounds_.insert(bound);
  lasting_bounds_.insert(bound);
}

void Tally::note_reached(const Machine& machine) {
  const std::vector<bool>& reached = machine.reached();
  const std::lock_guard lock(mutex_);
  result_.footprints.add(machine.footprints());
  if (result_.reached.size() < reached.size()) result_.reached.resize(reached.size());
  for (size_t i = 0; i < reached.size(); ++i) {
    if (reached[i]) result_.reached[i] = true;
  }
}

ExploreResult Tally::result(const Remaining& remaining) {
  const std::lock_guard lock(mutex_);
  ExploreResult result = result_;
  if (!remaining.empty()) result.remaining = std::make_shared<Remaining>(remaining);
  result.reduction = options_.reduction;
  result.seconds = result_.seconds + seconds();
  result.bounds_hit.assign(bounds_.begin(), bounds_.end());
  result.lasting_bounds.assign(lasting_bounds_.begin(), lasting_bounds_.end());
  result.complete = bounds_.empty() && !stop_ && remaining.empty();
  settle(result, options_);
  return result;
}

void settle(ExploreResult& result, const ExploreOptions& options) {
  // The same places and memory in error: what only the strict reading says of them is no news, whatever its cause.
  const auto in_error = [&](const FoundFinding& found) {
    Finding same = found.finding;
    return same.strict && std::any_of(result.findings.begin(), result.findings.end(), [&](const FoundFinding& other) {
             same.cause = other.finding.cause;
             return !other.finding.strict && same_finding(same, other.finding);
           });
  };
  std::vector<FoundFinding> kept;
  for (const FoundFinding& found : result.findings) {
    if (!in_error(found)) kept.push_back(found);
  }
  result.findings = std::move(kept);
  std::sort(result.findings.begin(), result.findings.end(), canonically_before);
  const auto any = [&](auto holds) {
    return std::any_of(result.findings.begin(), result.findings.end(), [&](const auto& f) { return holds(f.finding); });
  };
  const bool hidden = any([](const Finding& f) { return makes_incomplete(f.kind); });
  if (any([&](const Finding& f) { return is_violation(f, options); })) {
    result.verdict = Verdict::kViolation;
  } else {
    result.verdict = result.complete && !hidden ? Verdict::kVerified : Verdict::kIncomplete;
  }
}

}  // namespace warpcheck
