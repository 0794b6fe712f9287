#include "frontends/cli/baseline.h"

#include <fmt/format.h>

#include <algorithm>
#include <nlohmann/json.hpp>

#include "frontends/cli/options.h"
#include "frontends/ptx/input_file.h"

namespace warpcheck::cli {
namespace {

using Json = nlohmann::ordered_json;

bool same_place(const ToldSite& known, const ToldSite& site, bool by_text) {
  if (known.role != site.role || known.instruction != site.instruction || known.file != site.file) return false;
  return by_text ? !known.text.empty() && known.text == site.text : known.line == site.line;
}

Json site_json(const ToldSite& site) {
  return {{"role", site.role}, {"instruction", site.instruction}, {"file", site.file}, {"line", site.line},
          {"text", site.text}};
}

ToldSite read_site(const Json& json) {
  ToldSite site;
  json.at("role").get_to(site.role);
  json.at("instruction").get_to(site.instruction);
  json.at("file").get_to(site.file);
  json.at("line").get_to(site.line);
  site.text = json.value("text", "");
  return site;
}

}  // namespace

Baseline Baseline::read(const std::string& path) {
  const std::string text = ptx::read_input_file(path, "baseline file");
  Baseline baseline;
  try {
    const Json json = Json::parse(text);
    if (json.at("schema").get<int>() != 1 || !json.at("baseline").get<bool>()) {
      throw InputError(path, 0, "found another schema, expected a baseline of schema 1");
    }
    for (const Json& finding : json.at("findings")) {
      Entry entry;
      finding.at("kernel").get_to(entry.kernel);
      entry.launch = finding.value("launch", "");
      finding.at("kind").get_to(entry.kind);
      finding.at("cause").get_to(entry.cause);
      finding.at("object").get_to(entry.object);
      entry.reason = finding.value("reason", "");
      for (const Json& site : finding.at("sites")) entry.sites.push_back(read_site(site));
      baseline.entries_.push_back(std::move(entry));
    }
  } catch (const nlohmann::json::exception& error) {
    throw InputError(path, 0, fmt::format("found no baseline ({}), expected one that --write-baseline wrote", error.what()));
  }
  return baseline;
}

bool Baseline::same(const Entry& entry, const std::string& kernel, const ToldFinding& told, bool by_text) {
  const Finding& finding = told.finding;
  return entry.kernel == kernel && entry.kind == name(finding.kind) && entry.cause == name(finding.cause) &&
         entry.object == finding.object &&
         std::equal(entry.sites.begin(), entry.sites.end(), told.sites.begin(), told.sites.end(),
                    [&](const ToldSite& a, const ToldSite& b) { return same_place(a, b, by_text); });
}

void Baseline::accept(LaunchOutcome& outcome) {
  std::vector<bool> used(entries_.size());
  for (const bool by_text : {false, true}) {
    for (ToldFinding& finding : outcome.findings) {
      for (size_t i = 0; i < entries_.size() && !finding.accepted; ++i) {
        if (used[i] || !same(entries_[i], outcome.kernel, finding, by_text)) continue;
        used[i] = entries_[i].seen = finding.accepted = true;
      }
    }
  }
  for (size_t i = 0; i < entries_.size(); ++i) {
    const bool its_launch = entries_[i].kernel == outcome.kernel &&
                            (entries_[i].launch.empty() || entries_[i].launch == file_name(outcome.name));
    if (its_launch && !used[i] && outcome.whole) entries_[i].missed = true;
  }
}

std::vector<std::string> Baseline::stale() const {
  std::vector<std::string> lines;
  for (const Entry& entry : entries_) {
    if (entry.seen || !entry.missed) continue;
    std::string where;
    for (const ToldSite& site : entry.sites) {
      where += fmt::format("{}{}:{}", where.empty() ? " (" : ", ", site.file, site.line);
    }
    lines.push_back(fmt::format("no longer found: {}{} in {}{}", entry.kind,
                                entry.object.empty() ? "" : " on " + entry.object, entry.kernel,
                                where.empty() ? "" : where + ")"));
  }
  return lines;
}

const Baseline::Entry* Baseline::find(const std::string& kernel, const ToldFinding& finding) const {
  for (const bool by_text : {false, true}) {
    for (const Entry& entry : entries_) {
      if (same(entry, kernel, finding, by_text)) return &entry;
    }
  }
  return nullptr;
}

std::string Baseline::text(const std::vector<LaunchOutcome>& outcomes) const {
  Baseline written;
  Json findings = Json::array();
  for (const LaunchOutcome& outcome : outcomes) {
    LaunchOutcome known = outcome;
    for (ToldFinding& finding : known.findings) finding.accepted = false;
    written.accept(known);  // what an earlier launch of the kernel has shown already
    for (const ToldFinding& told : known.findings) {
      if (!told.violation || told.accepted) continue;
      const Finding& finding = told.finding;
      const Entry* old = find(outcome.kernel, told);
      Json sites = Json::array();
      for (const ToldSite& site : told.sites) sites.push_back(site_json(site));
      findings.push_back({{"kernel", outcome.kernel},
                          {"launch", file_name(outcome.name)},
                          {"kind", name(finding.kind)},
                          {"cause", name(finding.cause)},
                          {"object", finding.object},
                          {"reason", old == nullptr ? "" : old->reason},
                          {"sites", sites}});
      written.entries_.push_back({outcome.kernel, "", name(finding.kind), name(finding.cause), finding.object, "",
                                  told.sites});
    }
  }
  const Json json = {{"schema", 1}, {"tool", kTool}, {"baseline", true}, {"findings", findings}};
  return json.dump(2, ' ', false, Json::error_handler_t::replace) + "\n";
}

}  // namespace warpcheck::cli
