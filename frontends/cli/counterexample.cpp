#include "frontends/cli/counterexample.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <charconv>
#include <cstdio>
#include <filesystem>
#include <fstream>
#include <memory>
#include <nlohmann/json.hpp>

#include "frontends/ptx/input_file.h"

namespace warpcheck::cli {
namespace {

using Json = nlohmann::ordered_json;
namespace fs = std::filesystem;

// "64.0@1": thread 64, in block 1; "64.2@1": its second asynchronous operation, towards block 1.
std::string key_text(const AgentKey& key) { return fmt::format("{}.{}@{}", key.thread, key.ordinal, key.block); }

bool parse_key(std::string_view text, AgentKey& key) {
  const auto number = [&](uint32_t& value, char stop) {
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
    if (error != std::errc()) return false;
    text.remove_prefix(static_cast<size_t>(end - text.data()));
    if (stop == '\0') return text.empty();
    if (!text.starts_with(stop)) return false;
    text.remove_prefix(1);
    return true;
  };
  return number(key.thread, '.') && number(key.ordinal, '@') && number(key.block, '\0');
}

std::string relative(const std::string& path, const fs::path& folder) {
  return fs::proximate(fs::absolute(path), fs::absolute(folder)).string();
}

std::string resolved(const std::string& path, const fs::path& folder) {
  return (folder / path).lexically_normal().string();
}

Json launch_json(const Request& request, const std::string& hash, const fs::path& folder) {
  if (!request.launch.empty()) return {{"path", relative(request.launch, folder)}, {"hash", hash}};
  const ptx::LaunchFlags& flags = request.flags;
  Json said = {{"entry", flags.entry}, {"grid", flags.grid},   {"block", flags.block}, {"cluster", flags.cluster},
               {"args", flags.args},   {"cooperative", flags.cooperative}};
  if (flags.dynamic_shared) said["dynamic_shared"] = *flags.dynamic_shared;
  return {{"flags", said}, {"hash", hash}};
}

// All but the steps.
Json to_json(const Counterexample& c, const fs::path& folder) {
  Json agents = Json::object();
  for (size_t i = 0; i < c.names.size(); ++i) agents[key_text(c.schedule[i].agent)] = c.names[i];
  Json sites = Json::array();
  for (const FindingSite& site : c.finding.sites) {
    sites.push_back({{"agent", site.agent}, {"role", site.role}, {"site", index(site.site)}});
  }
  Json ptx = {{"hash", c.ptx_hash}};
  if (c.request.ptx) ptx["path"] = relative(*c.request.ptx, folder);
  return {{"schema", 1},
          {"tool", kTool},
          {"counterexample", true},
          {"kernel", c.kernel},
          {"launch", launch_json(c.request, c.launch_hash, folder)},
          {"ptx", ptx},
          {"reading", c.strict_run ? "strict" : "default"},
          {"bounds",
           {{"max_executions", c.max_executions}, {"max_steps", c.max_steps}, {"max_seconds", c.max_seconds}}},
          {"plain_steps", c.request.plain_steps},
          {"execution", c.execution},
          {"executions", c.executions},
          {"finding",
           {{"kind", name(c.finding.kind)},
            {"cause", name(c.finding.cause)},
            {"strict", c.finding.strict},
            {"after_race", c.finding.after_race},
            {"violation", c.violation},
            {"object", c.finding.object},
            {"range", c.finding.range},
            {"message", c.finding.message},
            {"sites", sites}}},
          {"agents", agents}};
}

// The file: a step a line, so that two schedules can be compared by eye.
std::string file_text(const Counterexample& c, const fs::path& folder) {
  std::string text = to_json(c, folder).dump(1, ' ', false, Json::error_handler_t::replace);
  text.resize(text.rfind('}') - 1);
  text += ",\n \"steps\": [";
  for (size_t i = 0; i < c.schedule.size(); ++i) {
    text += fmt::format("{}\n  [\"{}\", {}]", i == 0 ? "" : ",", key_text(c.schedule[i].agent), c.schedule[i].choice);
  }
  return text + "\n ]\n}\n";
}

template <class Enum>
Enum named(const std::string& text, Enum last) {
  for (int i = 0; i <= static_cast<int>(last); ++i) {
    if (text == name(static_cast<Enum>(i))) return static_cast<Enum>(i);
  }
  throw std::invalid_argument("unknown name '" + text + "'");
}

void read_request(const Json& json, const fs::path& folder, Request& request) {
  const Json& launch = json.at("launch");
  if (launch.contains("path")) request.launch = resolved(launch.at("path").get<std::string>(), folder);
  if (json.at("ptx").contains("path")) request.ptx = resolved(json.at("ptx").at("path").get<std::string>(), folder);
  request.plain_steps = json.at("plain_steps").get<bool>();
  if (!launch.contains("flags")) return;
  const Json& flags = launch.at("flags");
  flags.at("entry").get_to(request.flags.entry);
  flags.at("grid").get_to(request.flags.grid);
  flags.at("block").get_to(request.flags.block);
  flags.at("cluster").get_to(request.flags.cluster);
  flags.at("args").get_to(request.flags.args);
  flags.at("cooperative").get_to(request.flags.cooperative);
  if (flags.contains("dynamic_shared")) request.flags.dynamic_shared = flags.at("dynamic_shared").get<uint64_t>();
}

Finding read_finding(const Json& json) {
  Finding finding;
  finding.kind = named(json.at("kind").get<std::string>(), FindingKind::kUnsupported);
  finding.cause = named(json.at("cause").get<std::string>(), Cause::kNoSynchronization);
  json.at("strict").get_to(finding.strict);
  json.at("after_race").get_to(finding.after_race);
  json.at("object").get_to(finding.object);
  json.at("range").get_to(finding.range);
  json.at("message").get_to(finding.message);
  for (const Json& site : json.at("sites")) {
    finding.sites.push_back({site.at("agent").get<std::string>(), site.at("role").get<std::string>(),
                             SiteId{site.at("site").get<uint32_t>()}, kNoAgent, 0});
  }
  return finding;
}

Counterexample from_json(const Json& json, const fs::path& folder) {
  Counterexample c;
  if (json.at("schema").get<int>() != 1 || !json.at("counterexample").get<bool>()) {
    throw std::invalid_argument("not schema 1");
  }
  read_request(json, folder, c.request);
  json.at("kernel").get_to(c.kernel);
  json.at("launch").at("hash").get_to(c.launch_hash);
  json.at("ptx").at("hash").get_to(c.ptx_hash);
  c.strict_run = json.at("reading").get<std::string>() == "strict";
  json.at("execution").get_to(c.execution);
  json.at("executions").get_to(c.executions);
  json.at("bounds").at("max_steps").get_to(c.max_steps);
  c.finding = read_finding(json.at("finding"));
  json.at("finding").at("violation").get_to(c.violation);
  for (const Json& step : json.at("steps")) {
    Choice choice;
    if (!parse_key(step.at(0).get<std::string>(), choice.agent)) throw std::invalid_argument("bad agent in `steps`");
    const auto outcome = step.at(1).get<int64_t>();
    if (outcome < 0 || outcome > UINT16_MAX) throw std::invalid_argument("bad outcome in `steps`");
    choice.choice = static_cast<uint16_t>(outcome);
    c.schedule.push_back(choice);
  }
  return c;
}

// Whether an existing file is an earlier counterexample of the same kernel and launch, whose place may be taken. What was
// compiled anew is another kernel: its predecessor's counterexamples are still of use with its PTX.
bool replaceable(const fs::path& path, const Counterexample& c) {
  try {
    const Counterexample old = read_counterexample(path.string());
    const auto same = [](const std::string& a, const std::string& b) {
      if (a.empty() || b.empty()) return a == b;
      return fs::absolute(a).lexically_normal() == fs::absolute(b).lexically_normal();
    };
    return old.kernel == c.kernel && same(old.request.launch, c.request.launch) &&
           same(old.request.ptx.value_or(""), c.request.ptx.value_or("")) &&
           old.ptx_hash == c.ptx_hash && old.launch_hash == c.launch_hash;
  } catch (const InputError&) {
    return false;
  }
}

struct CloseFile {
  void operator()(FILE* file) const { std::fclose(file); }
};

}  // namespace

std::string write_counterexample(const Counterexample& counterexample, const std::string& folder,
                                 std::vector<std::string>& taken) {
  const std::string text = file_text(counterexample, folder);
  for (int n = 1;; ++n) {
    const fs::path path = (fs::path(folder) / fmt::format("{}-{}.json", name(counterexample.finding.kind), n));
    const std::string result = path.lexically_normal().string();
    if (std::find(taken.begin(), taken.end(), result) != taken.end()) continue;
    const bool exists = fs::exists(path);
    if (exists && !replaceable(path, counterexample)) continue;
    // "x": another process may have made the file since.
    const std::unique_ptr<FILE, CloseFile> file(std::fopen(path.c_str(), exists ? "wb" : "wbx"));
    if (file == nullptr && !exists && fs::exists(path)) continue;
    if (file == nullptr || std::fwrite(text.data(), 1, text.size(), file.get()) != text.size() ||
        std::fflush(file.get()) != 0) {
      throw InputError(result, 0, "cannot be written");
    }
    taken.push_back(result);
    return result;
  }
}

Counterexample read_counterexample(const std::string& path) {
  const std::string text = ptx::read_input_file(path, "counterexample file");
  try {
    return from_json(Json::parse(text), fs::path(path).parent_path());
  } catch (const nlohmann::json::exception& error) {
    throw InputError(path, 0, fmt::format("found no counterexample ({}), expected one that `check` wrote", error.what()));
  } catch (const std::invalid_argument& error) {
    throw InputError(path, 0, fmt::format("found no counterexample ({}), expected one that `check` wrote", error.what()));
  }
}

}  // namespace warpcheck::cli
