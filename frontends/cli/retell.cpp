#include "frontends/cli/retell.h"

#include <algorithm>

namespace warpcheck::cli {
namespace {

bool same_places(const Finding& a, const Finding& b) {
  const auto same = [](const FindingSite& x, const FindingSite& y) { return x.site == y.site; };
  return a.kind == b.kind && a.cause == b.cause && a.object == b.object &&
         std::equal(a.sites.begin(), a.sites.end(), b.sites.begin(), b.sites.end(), same);
}

}  // namespace

Retelling retell(const Kernel& kernel, const Schedule& schedule, const Finding& finding) {
  ReplayResult result = replay(*kernel.program, schedule);
  const auto exact = std::find_if(result.findings.begin(), result.findings.end(),
                                  [&](const Finding& f) { return same_finding(f, finding); });
  const auto found = exact != result.findings.end()
                         ? exact
                         : std::find_if(result.findings.begin(), result.findings.end(),
                                        [&](const Finding& f) { return same_places(f, finding); });
  if (found == result.findings.end()) {
    throw InputError("found a schedule that does not show its finding, expected one that `check` wrote");
  }
  Finding shown = *found;
  shown.strict = finding.strict;
  shown.after_race = finding.after_race;
  Retelling retelling;
  for (const Choice& choice : schedule) {
    retelling.names.push_back(result.machine->name(result.machine->agent(choice.agent)));
  }
  retelling.recording = make_recording(*kernel.program, *result.machine, std::move(result.events), std::move(shown));
  return retelling;
}

Recording bare_recording(const Kernel& kernel, const Finding& finding) {
  Finding shown = finding;
  for (FindingSite& site : shown.sites) site.id = kNoAgent;
  return make_recording(*kernel.program, *kernel.program->make_machine(), {}, std::move(shown));
}

}  // namespace warpcheck::cli
