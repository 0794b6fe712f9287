#include "frontends/cli/result_json.h"

#include <fmt/format.h>

#include <algorithm>
#include <nlohmann/json.hpp>

namespace warpcheck::cli {
namespace {

using Json = nlohmann::ordered_json;

Json site_json(const Program& program, const FindingSite& site) {
  Json json = {{"agent", site.agent}, {"role", site.role}};
  if (site.site == kNoSite) return json;
  const Site at = program.site(site.site);
  json["instruction"] = at.instruction;
  json["file"] = at.at.file;
  json["line"] = at.at.line;
  if (at.inlined_at.empty()) return json;
  json["inlined_at"] = Json::array();
  for (const SourceLine& line : at.inlined_at) json["inlined_at"].push_back({{"file", line.file}, {"line", line.line}});
  return json;
}

Json finding_json(const Program& program, const FoundFinding& found, const ToldFinding& told) {
  const Finding& finding = found.finding;
  Json sites = Json::array();
  for (const FindingSite& site : finding.sites) sites.push_back(site_json(program, site));
  Json json = {{"kind", name(finding.kind)},
               {"cause", name(finding.cause)},
               {"strict", finding.strict},
               {"after_race", finding.after_race},
               {"object", finding.object + finding.range},
               {"message", finding.message},
               {"sites", sites},
               {"execution", found.execution}};
  if (told.accepted) json["accepted"] = true;
  if (!told.files.counterexample.empty()) json["counterexample"] = told.files.counterexample;
  if (!told.files.graph.empty()) json["graph"] = told.files.graph;
  return json;
}

std::string place_of(const Program& program, const Finding& finding) {
  const auto& sites = finding.sites;
  return sites.empty() || sites[0].site == kNoSite ? "" : place(program.site(sites[0].site));
}

// "tcgen05.mma (ring.cu:80)"
std::string with_place(const Program& program, const Finding& finding) {
  const std::string what = finding.message.empty() ? finding.object : finding.message;
  const std::string where = place_of(program, finding);
  return where.empty() || what.find(where) != std::string::npos ? what : fmt::format("{} ({})", what, where);
}

void add_once(std::vector<std::string>& list, std::string item) {
  if (std::find(list.begin(), list.end(), item) == list.end()) list.push_back(std::move(item));
}

}  // namespace

RunSummary summarize(const Kernel& kernel, const CheckOptions& options, const ExploreResult& result) {
  const Program& program = *kernel.program;
  RunSummary summary;
  summary.kernel = program.name();
  summary.verdict = name(result.verdict);
  summary.reading = options.strict ? "strict" : "default";
  summary.reduction = name(result.reduction);
  summary.executions = result.executions;
  summary.assumptions = program.assumptions();
  summary.bounds_hit = result.bounds_hit;
  summary.merged = result.merged;
  for (const FoundFinding& found : result.findings) {
    if (found.finding.kind == FindingKind::kUnsupported) {
      add_once(summary.unsupported, with_place(program, found.finding));
    } else if (found.finding.kind == FindingKind::kLimit) {
      add_once(summary.bounds_hit, with_place(program, found.finding));
    } else {
      ++(found.finding.strict && !options.strict ? summary.warnings : summary.findings);
    }
  }
  for (const SiteId site : program.instructions()) {
    ++summary.of;
    if (index(site) < result.reached.size() && result.reached[index(site)]) {
      ++summary.ran;
    } else {
      summary.not_reached.push_back(best_line(program.site(site)));
    }
  }
  return summary;
}

Json result_json(const Kernel& kernel, const CheckOptions& options, const ExploreResult& result,
                 const RunSummary& summary, const std::vector<ToldFinding>& told) {
  Json not_reached = Json::array(), findings = Json::array();
  for (const SourceLine& line : summary.not_reached) {
    const std::string text = line_ranges({line});
    if (std::find(not_reached.begin(), not_reached.end(), text) == not_reached.end()) not_reached.push_back(text);
  }
  for (size_t i = 0; i < result.findings.size(); ++i) {
    if (makes_incomplete(result.findings[i].finding.kind)) continue;
    findings.push_back(finding_json(*kernel.program, result.findings[i], told[i]));
  }
  Json json = {{"schema", 1},
               {"tool", kTool},
               {"kernel", summary.kernel},
               {"source", kernel.spec.ptx},
               {"launch", kernel.request.launch.empty() ? Json(nullptr) : Json(kernel.request.launch)},
               {"verdict", summary.verdict},
               {"reading", summary.reading},
               {"memory", "sc"},
               {"reduction", summary.reduction},
               {"executions", result.executions},
               {"blocked", result.blocked},
               {"events", result.events},
               {"max_depth", result.max_depth},
               {"complete", result.complete},
               {"bounds_hit", summary.bounds_hit},
               {"merged", summary.merged},
               {"unsupported", summary.unsupported},
               {"reached", {{"ran", summary.ran}, {"of", summary.of}, {"not", not_reached}}},
               {"assumptions", summary.assumptions},
               {"workers", result.workers},
               {"seconds", result.seconds},
               {"findings", findings}};
  if (summary.accepted != 0) json["accepted"] = summary.accepted;
  if (options.plain_steps) json["plain_steps"] = true;
  return json;
}

}  // namespace warpcheck::cli
