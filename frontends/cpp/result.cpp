#include "frontends/cpp/result.h"

#include <ostream>

namespace warpcheck {

CheckResult check(const Kernel& kernel, const ExploreOptions& options) {
  ExploreResult explored = explore(kernel, options);
  CheckResult result{.verdict = explored.verdict,
                     .findings = {},
                     .executions = explored.executions,
                     .blocked = explored.blocked,
                     .events = explored.events,
                     .complete = explored.complete,
                     .bounds_hit = std::move(explored.bounds_hit),
                     .merged = std::move(explored.merged),
                     .seconds = explored.seconds};
  for (FoundFinding& found : explored.findings) {
    Finding& finding = found.finding;
    CheckFinding& checked = result.findings.emplace_back();
    checked.kind = finding.kind;
    checked.cause = finding.cause;
    checked.strict = finding.strict;
    checked.object = std::move(finding.object);
    checked.range = std::move(finding.range);
    checked.message = std::move(finding.message);
    checked.execution = found.execution;
    checked.schedule = std::move(found.schedule);
    for (FindingSite& at : finding.sites) {
      const Site site = kernel.site(at.site);
      checked.sites.push_back({site.at.file, site.at.line, site.instruction, std::move(at.agent), std::move(at.role)});
    }
  }
  return result;
}

std::ostream& operator<<(std::ostream& out, const CheckFinding& finding) {
  out << name(finding.kind);
  if (finding.strict) out << " (strict reading)";
  if (!finding.object.empty()) out << " on " << finding.object << finding.range;
  if (finding.cause != Cause::kNone) out << ": " << name(finding.cause);
  out << '\n';
  for (const FoundAt& at : finding.sites) {
    out << "    " << at.role << "  " << at.agent << "  ";
    if (!at.file.empty()) out << at.file << ':' << at.line << "  ";
    out << at.instruction << '\n';
  }
  if (!finding.message.empty()) out << "    " << finding.message << '\n';
  return out;
}

std::ostream& operator<<(std::ostream& out, const CheckResult& result) {
  out << name(result.verdict) << " after " << result.executions << " executions\n";
  for (const std::string& bound : result.bounds_hit) out << "  bound: " << bound << '\n';
  for (const CheckFinding& finding : result.findings) out << "  " << finding;
  return out;
}

}  // namespace warpcheck
