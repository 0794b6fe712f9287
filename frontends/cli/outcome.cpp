#include "frontends/cli/outcome.h"

#include <algorithm>
#include <cstdio>
#include <filesystem>
#include <memory>

namespace warpcheck::cli {
namespace {

struct CloseFile {
  void operator()(FILE* file) const { std::fclose(file); }
};

ToldSite tell_site(const Kernel& kernel, const FindingSite& site) {
  ToldSite told;
  told.agent = site.agent;
  told.role = site.role;
  if (site.site == kNoSite) return told;
  const Site at = kernel.program->site(site.site);
  const SourceLine& line = best_line(at);
  told.instruction = at.instruction;
  told.file = file_name(line.file);
  told.line = line.line;
  told.text = kernel.sources.text(line);
  told.path = kernel.sources.path(line.file);
  told.chain = inlining(at);
  return told;
}

}  // namespace

bool LaunchOutcome::violated() const {
  return std::any_of(findings.begin(), findings.end(),
                     [](const ToldFinding& finding) { return finding.violation && !finding.accepted; });
}

ToldFinding tell_finding(const Kernel& kernel, const Finding& finding, bool violation) {
  ToldFinding told;
  told.finding = finding;
  told.violation = violation;
  for (const FindingSite& site : finding.sites) told.sites.push_back(tell_site(kernel, site));
  return told;
}

bool is_whole(const ExploreResult& result) {
  return result.complete && result.bounds_hit.empty() &&
         std::none_of(result.findings.begin(), result.findings.end(),
                      [](const FoundFinding& found) { return makes_incomplete(found.finding.kind); });
}

std::string file_name(const std::string& path) { return std::filesystem::path(path).filename().string(); }

void write_text_file(const std::string& path, const std::string& text) {
  const std::unique_ptr<FILE, CloseFile> file(std::fopen(path.c_str(), "wb"));
  if (file == nullptr || std::fwrite(text.data(), 1, text.size(), file.get()) != text.size() ||
      std::fflush(file.get()) != 0) {
    throw InputError(path, 0, "cannot be written");
  }
}

}  // namespace warpcheck::cli
