// What a terminal shows: the verdict first, then each finding with its two places, the missing order and the few events
// that matter, one column an agent.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "visualize/recording.h"
#include "visualize/sources.h"

namespace warpcheck {

// What one run of the checker has to say beside its findings.
struct RunSummary {
  std::string kernel;
  std::string verdict;                    // "verified", "violation", "incomplete"
  std::string reading = "default";        // or "strict"
  std::string reduction = "optimal";
  uint64_t executions = 0, findings = 0, warnings = 0;
  uint64_t accepted = 0;                  // of the findings, by a baseline
  uint64_t ran = 0, of = 0;               // memory and barrier instructions
  std::vector<SourceLine> not_reached;
  std::vector<std::string> assumptions, unsupported, bounds_hit, merged;
};

// Where a finding was met and where its files are.
struct FindingContext {
  uint64_t execution = 0, executions = 0;
  bool violation = true;                  // else a warning beside the verdict
  std::string counterexample, graph;      // paths; "" when not written
  bool accepted = false;                  // a violation that a baseline accepts
};

// "OK    verified ring: 9 executions, ..." or "????  incomplete ring: ..."; ends with a newline.
std::string verdict_report(const RunSummary& summary);

// One line for a list of launches: "FAIL  ring.toml: race on ring[0] (no synchronization)".
std::string verdict_line(const std::string& launch, const RunSummary& summary, const Finding* first);

std::string finding_report(const Recording& recording, const Sources& sources, const FindingContext& context);

// Why there is no order: one sentence by the finding's cause, or its message.
std::string explanation(const Recording& recording, const struct Slice& slice);

// The parts of a sentence that tells of several agents ("...; ..."), a line each.
std::vector<std::string> clauses(const std::string& sentence);

// "race on shared ring[0..31]"
std::string headline(const Finding& finding);

}  // namespace warpcheck
