#include "frontends/cli/junit.h"

#include <fmt/format.h>

#include <algorithm>

#include "frontends/cli/options.h"

namespace warpcheck::cli {
namespace {

// The length of the UTF-8 sequence that begins at `at`; 0 when there is none.
size_t sequence(const std::string& text, size_t at) {
  const auto byte = [&](size_t i) { return static_cast<unsigned char>(text[i]); };
  const unsigned char first = byte(at);
  const size_t length = first < 0x80 ? 1 : first >= 0xc2 && first < 0xe0 ? 2 : first >= 0xe0 && first < 0xf0 ? 3
                        : first >= 0xf0 && first < 0xf5 ? 4 : 0;
  if (length == 0 || at + length > text.size()) return 0;
  for (size_t i = 1; i < length; ++i) {
    if ((byte(at + i) & 0xc0U) != 0x80) return 0;
  }
  return length;
}

// XML 1.0 has no way to say control characters, and a file must be UTF-8: both become U+FFFD.
std::string escaped(const std::string& text) {
  constexpr const char* kReplacement = "\xef\xbf\xbd";
  std::string result;
  for (size_t at = 0; at < text.size();) {
    const size_t length = sequence(text, at);
    const char c = text[at];
    if (length != 1) {
      result += length == 0 ? kReplacement : text.substr(at, length);
    } else if (c == '&') {
      result += "&amp;";
    } else if (c == '<') {
      result += "&lt;";
    } else if (c == '>') {
      result += "&gt;";
    } else if (c == '"') {
      result += "&quot;";
    } else {
      result += c >= 0x20 || c == '\n' || c == '\t' ? std::string(1, c) : kReplacement;
    }
    at += std::max<size_t>(length, 1);
  }
  return result;
}

enum class Result : uint8_t { kPassed, kFailure, kError };

Result result_of(const LaunchOutcome& outcome) {
  if (outcome.violated()) return Result::kFailure;
  return outcome.whole ? Result::kPassed : Result::kError;
}

std::string joined(const std::vector<std::string>& items) {
  std::string result;
  for (const std::string& item : items) result += (result.empty() ? "" : "; ") + item;
  return result;
}

std::string failure(const LaunchOutcome& outcome) {
  const auto first = std::find_if(outcome.findings.begin(), outcome.findings.end(),
                                  [](const ToldFinding& found) { return found.violation && !found.accepted; });
  std::string message = headline(first->finding);
  if (first->finding.cause != Cause::kNone) message += fmt::format(" ({})", name(first->finding.cause));
  return fmt::format("      <failure type=\"{}\" message=\"{}\">{}</failure>\n", name(first->finding.kind),
                     escaped(message), escaped(outcome.report));
}

std::string error(const LaunchOutcome& outcome) {
  std::vector<std::string> reasons = outcome.summary.bounds_hit;
  for (const std::string& what : outcome.summary.unsupported) reasons.push_back("not supported: " + what);
  return fmt::format("      <error type=\"incomplete\" message=\"{}\">{}</error>\n",
                     escaped(reasons.empty() ? "the search did not end" : joined(reasons)), escaped(outcome.report));
}

std::string test_case(const LaunchOutcome& outcome) {
  std::string text = fmt::format("    <testcase classname=\"{}\" name=\"{}\" time=\"{:.3f}\">\n",
                                 escaped(outcome.kernel), escaped(outcome.name), outcome.seconds);
  switch (result_of(outcome)) {
    case Result::kPassed: text += fmt::format("      <system-out>{}</system-out>\n", escaped(outcome.report)); break;
    case Result::kFailure: text += failure(outcome); break;
    case Result::kError: text += error(outcome); break;
  }
  return text + "    </testcase>\n";
}

}  // namespace

std::string junit_xml(const std::vector<LaunchOutcome>& outcomes) {
  double seconds = 0;
  for (const LaunchOutcome& outcome : outcomes) seconds += outcome.seconds;
  const auto count = [&](Result result) {
    return std::count_if(outcomes.begin(), outcomes.end(), [&](const auto& o) { return result_of(o) == result; });
  };
  const std::string totals = fmt::format("tests=\"{}\" failures=\"{}\" errors=\"{}\" skipped=\"0\" time=\"{:.3f}\"",
                                         outcomes.size(), count(Result::kFailure), count(Result::kError), seconds);
  std::string text = "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n";
  text += fmt::format("<testsuites name=\"{}\" {}>\n  <testsuite name=\"warpcheck\" {}>\n", kTool, totals, totals);
  for (const LaunchOutcome& outcome : outcomes) text += test_case(outcome);
  return text + "  </testsuite>\n</testsuites>\n";
}

}  // namespace warpcheck::cli
