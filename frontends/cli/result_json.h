// The result of one launch as programs read it (docs/formats.md, Result).
#pragma once

#include <nlohmann/json_fwd.hpp>
#include <string>
#include <vector>

#include "explorer/explore.h"
#include "frontends/cli/kernel.h"
#include "frontends/cli/options.h"
#include "frontends/cli/outcome.h"
#include "visualize/report.h"

namespace warpcheck::cli {

// `told` has an entry for each of result.findings.
nlohmann::ordered_json result_json(const Kernel& kernel, const CheckOptions& options, const ExploreResult& result,
                                   const RunSummary& summary, const std::vector<ToldFinding>& told);

// What the text report and the JSON say alike.
RunSummary summarize(const Kernel& kernel, const CheckOptions& options, const ExploreResult& result);

}  // namespace warpcheck::cli
