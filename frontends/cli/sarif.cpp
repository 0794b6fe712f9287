#include "frontends/cli/sarif.h"

#include <fmt/format.h>

#include <filesystem>
#include <map>
#include <nlohmann/json.hpp>

#include "frontends/cli/digest.h"
#include "frontends/cli/options.h"

namespace warpcheck::cli {
namespace {

using Json = nlohmann::ordered_json;
namespace fs = std::filesystem;

struct Rule {
  FindingKind kind;
  const char* name;
  const char* text;
};

constexpr Rule kRules[] = {
    {FindingKind::kRace, "DataRace", "Two accesses to the same memory are not ordered, and one of them writes."},
    {FindingKind::kDeadlock, "Deadlock", "Threads wait for something that can no longer happen."},
    {FindingKind::kBarrierMisuse, "BarrierMisuse", "A barrier is used against the rules of its instruction."},
    {FindingKind::kUnawaitedAsync, "UnawaitedAsyncOperation", "A block exits while its asynchronous operation runs."},
    {FindingKind::kLifetime, "Lifetime", "Memory is used before it exists or after it is gone."},
    {FindingKind::kRegisterHazard, "RegisterHazard", "Registers of an asynchronous instruction are used too early."},
    {FindingKind::kOutOfBounds, "OutOfBounds", "An access lies outside of its memory."},
    {FindingKind::kUninitializedRead, "UninitializedRead", "A value that was never written decides something."},
    {FindingKind::kMisaligned, "Misaligned", "An address is not aligned as its instruction demands."},
    {FindingKind::kDivergence, "Divergence", "Threads disagree about a barrier or a warp-wide instruction."},
    {FindingKind::kAssertion, "Assertion", "An assertion or a trap of the kernel was reached."},
    {FindingKind::kWrongResult, "WrongResult", "Final memory or output is not what the launch file expects."},
    {FindingKind::kNondeterminism, "Nondeterminism", "The result depends on the schedule."},
};

Json message(const std::string& text) {
  // In SARIF braces are placeholders, and [text](target) is a link; ours are neither.
  const bool looks_like_link = text.find("](") != std::string::npos;
  std::string escaped;
  for (const char c : text) {
    if (c == '{' || c == '}') escaped += c;
    if (looks_like_link && (c == '[' || c == ']')) escaped += '\\';
    escaped += c;
  }
  return {{"text", escaped}};
}

Json rule(const Rule& rule) {
  return {{"id", name(rule.kind)},
          {"name", rule.name},
          {"shortDescription", {{"text", rule.text}}},
          {"fullDescription", {{"text", rule.text}}},
          {"help", {{"text", "The message names the places and the order that is missing; `warpcheck replay` runs the "
                             "counterexample again."}}},
          {"defaultConfiguration", {{"level", "error"}}},
          {"properties", {{"tags", {"correctness", "concurrency", "gpu"}}}}};
}

size_t rule_index(FindingKind kind) {
  size_t i = 0;
  while (i + 1 < std::size(kRules) && kRules[i].kind != kind) ++i;
  return i;
}

// A path as the path of a URI (RFC 3986).
std::string percent_encoded(const std::string& path) {
  std::string result;
  for (const char c : path) {
    const bool plain = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') ||
                       std::string("-._~/!$&'()*+,;=@").find(c) != std::string::npos;
    result += plain ? std::string(1, c) : fmt::format("%{:02X}", static_cast<unsigned char>(c));
  }
  return result;
}

Json artifact(const std::string& path, const fs::path& root) {
  const fs::path from_root = fs::path(path).lexically_proximate(root);
  const fs::path shown = fs::path(path).is_relative() ? fs::path(path).lexically_normal() : from_root;
  if (shown.is_relative() && !shown.empty() && *shown.begin() != "..") {
    return {{"uri", percent_encoded(shown.generic_string())}, {"uriBaseId", "%SRCROOT%"}};
  }
  const fs::path absolute = fs::path(path).is_absolute() ? fs::path(path) : (root / path).lexically_normal();
  return {{"uri", "file://" + percent_encoded(absolute.generic_string())}};
}

class Log {
 public:
  explicit Log(fs::path root) : root_(std::move(root)) {}

  void add(const LaunchOutcome& outcome) {
    std::map<std::string, int> met;  // within a launch, so that the number does not depend on the others
    for (const ToldFinding& finding : outcome.findings) results_.push_back(result(outcome, finding, met));
    // A search that its first violation ended has done what it should.
    if (outcome.whole || (outcome.violated() && outcome.summary.bounds_hit.empty() && outcome.summary.unsupported.empty())) {
      return;
    }
    whole_ = false;
    std::string why;
    for (const auto* list : {&outcome.summary.bounds_hit, &outcome.summary.unsupported}) {
      for (const std::string& item : *list) why += (why.empty() ? ": " : "; ") + item;
    }
    notifications_.push_back({{"level", "error"},
                              {"message", message(fmt::format("{}: the search is incomplete{}", outcome.name, why))},
                              {"locations", {{{"physicalLocation",
                                               {{"artifactLocation", artifact(outcome.ptx, root_)}}}}}}});
  }

  std::string text() const {
    Json rules = Json::array();
    for (const Rule& each : kRules) rules.push_back(rule(each));
    const Json driver = {{"name", "warpcheck"},
                         {"version", WARPCHECK_VERSION},
                         {"semanticVersion", WARPCHECK_VERSION},
                         {"rules", rules}};
    Json invocation = {{"executionSuccessful", whole_}};
    if (!notifications_.empty()) invocation["toolExecutionNotifications"] = notifications_;
    const Json run = {{"tool", {{"driver", driver}}},
                      {"invocations", {invocation}},
                      {"columnKind", "utf16CodeUnits"},
                      {"results", results_}};
    const Json log = {{"$schema", "https://json.schemastore.org/sarif-2.1.0.json"}, {"version", "2.1.0"},
                      {"runs", {run}}};
    return log.dump(2, ' ', false, Json::error_handler_t::replace) + "\n";
  }

 private:
  Json location(const ToldSite& site) const {
    Json physical = {{"artifactLocation", artifact(site.path, root_)}};
    if (site.line != 0) {
      physical["region"] = {{"startLine", site.line}};
      if (!site.text.empty()) physical["region"]["snippet"] = {{"text", site.text}};
    }
    return {{"physicalLocation", physical}};
  }

  Json result(const LaunchOutcome& outcome, const ToldFinding& told, std::map<std::string, int>& met) const {
    Json locations = Json::array(), related = Json::array();
    for (const ToldSite& site : told.sites) {
      if (site.path.empty()) continue;
      if (locations.empty()) {
        locations.push_back(location(site));
        continue;
      }
      Json place = location(site);
      place["id"] = related.size() + 1;
      place["message"] = message(fmt::format("{}: {}", site.role, site.agent));
      related.push_back(place);
    }
    if (locations.empty()) {
      locations.push_back({{"physicalLocation", {{"artifactLocation", artifact(outcome.ptx, root_)}}}});
    }
    locations[0]["logicalLocations"] = {{{"name", outcome.kernel}, {"kind", "function"}}};
    const std::string print = fingerprint(outcome, told);
    Json json = {{"ruleId", name(told.finding.kind)},
                 {"ruleIndex", rule_index(told.finding.kind)},
                 {"level", told.violation ? "error" : "warning"},
                 {"message", message(sentence(told))},
                 {"locations", locations}};
    if (!related.empty()) json["relatedLocations"] = related;
    json["partialFingerprints"] = {{"warpcheckFinding/v1", fmt::format("{}:{}", print, ++met[print])}};
    if (told.accepted) json["suppressions"] = {{{"kind", "external"}, {"justification", "accepted by the baseline"}}};
    json["properties"] = {{"kernel", outcome.kernel},
                          {"launch", outcome.name},
                          {"cause", name(told.finding.cause)},
                          {"strict", told.finding.strict},
                          {"after_race", told.finding.after_race}};
    if (!told.files.counterexample.empty()) json["properties"]["counterexample"] = told.files.counterexample;
    return json;
  }

  static std::string sentence(const ToldFinding& told) {
    std::string text = headline(told.finding);
    if (told.finding.cause != Cause::kNone) text += fmt::format(" ({})", name(told.finding.cause));
    if (told.finding.strict) text += ", by the strict reading only";
    for (size_t i = 0; i < told.sites.size(); ++i) {
      const ToldSite& site = told.sites[i];
      text += fmt::format("; ({}) {} by {}", i + 1, site.role, site.agent);
      if (!site.file.empty()) text += fmt::format(" at {}:{}", site.file, site.line);
    }
    return told.why.empty() ? text + "." : fmt::format("{}. {}.", text, told.why);
  }

  // Survives moved lines as long as their text is at hand.
  static std::string fingerprint(const LaunchOutcome& outcome, const ToldFinding& told) {
    Digest digest;
    for (const std::string& part : {outcome.kernel, std::string(name(told.finding.kind)),
                                    std::string(name(told.finding.cause)), told.finding.object}) {
      digest.add(part);
    }
    for (const ToldSite& site : told.sites) {
      for (const std::string& part : {site.role, site.instruction, site.file, site.text}) digest.add(part);
      if (site.text.empty()) digest.add(uint64_t{site.line});
    }
    return digest.hex();
  }

  fs::path root_;
  Json results_ = Json::array(), notifications_ = Json::array();
  bool whole_ = true;
};

}  // namespace

std::string sarif_text(const std::vector<LaunchOutcome>& outcomes, const std::string& root) {
  Log log(root);
  for (const LaunchOutcome& outcome : outcomes) log.add(outcome);
  return log.text();
}

}  // namespace warpcheck::cli
