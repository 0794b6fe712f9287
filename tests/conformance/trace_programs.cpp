// trace_programs NAME N [--workers W] [--reduction R]: explores one of the programs with known numbers of traces and
// prints how many there were and how long it took.
#include <charconv>
#include <cstdio>
#include <cstring>
#include <string>
#include <string_view>
#include <vector>

#include "tests/conformance/programs.h"

namespace {

using namespace warpcheck;
using namespace warpcheck::conformance;

void help() {
  std::printf(
      "usage: trace_programs NAME N [--workers W] [--reduction none|sleep|source|optimal]\n"
      "       trace_programs ring STAGES:ITERATIONS:CONSUMERS [...]   (also ring:STAGES:ITERATIONS:CONSUMERS)\n\n"
      "Prints {\"program\", \"n\", \"executions\", \"blocked\", \"seconds\"}. Exit code 1 if a program goes "
      "wrong.\n\n");
  for (const ProgramInfo& info : programs()) std::printf("  %-11s%s\n", info.name, info.text);
  std::printf("  %-11s%s\n", "ring", "a producer and consumers over a ring of stages: one trace");
}

unsigned number(std::string_view text, const char* what) {
  unsigned value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc{} || end != text.data() + text.size() || text.empty()) {
    throw InputError("found '" + std::string(text) + "', expected a number of " + what);
  }
  return value;
}

std::vector<std::string> split(const std::string& text) {
  std::vector<std::string> parts(1);
  for (const char c : text) {
    if (c == ':') {
      parts.emplace_back();
    } else {
      parts.back() += c;
    }
  }
  return parts;
}

Reduction reduction(std::string_view text) {
  for (const Reduction r : {Reduction::kNone, Reduction::kSleep, Reduction::kSource, Reduction::kOptimal}) {
    if (text == name(r)) return r;
  }
  throw InputError("found reduction '" + std::string(text) + "', expected none, sleep, source or optimal");
}

Kernel kernel(const std::vector<std::string>& words) {
  if (words.empty() || words[0] != "ring") {
    if (words.size() != 2) throw InputError("expected NAME N; see --help");
    return program(words[0], number(words[1], "threads"));
  }
  if (words.size() != 4) throw InputError("expected ring STAGES:ITERATIONS:CONSUMERS");
  const RingShape shape{number(words[1], "stages"), number(words[2], "iterations"), number(words[3], "consumers")};
  if (shape.stages == 0 || shape.consumers == 0 || shape.stages > 1024 || shape.consumers > 1024) {
    throw InputError("a ring has 1 to 1024 stages and 1 to 1024 consumers");
  }
  return ring(shape);
}

int run(int argc, char** argv) {
  std::vector<std::string> words;
  ExploreOptions options;
  for (int i = 1; i < argc; ++i) {
    const std::string_view argument = argv[i];
    if (argument == "--help" || argument == "-h") {
      help();
      return 0;
    }
    if (argument == "--workers" || argument == "--reduction") {
      if (++i == argc) throw InputError(std::string(argument) + " needs a value");
      if (argument == "--workers") options.workers = number(argv[i], "workers");
      if (argument == "--reduction") options.reduction = reduction(argv[i]);
    } else if (argument.starts_with("-")) {
      throw InputError("unknown option " + std::string(argument) + "; see --help");
    } else {
      for (const std::string& part : split(std::string(argument))) words.push_back(part);
    }
  }
  const Kernel k = kernel(words);
  const CheckResult result = check(k, options);
  std::string n = words[1];
  for (size_t i = 2; i < words.size(); ++i) n += ":" + words[i];
  if (words.size() > 2) n = '"' + n + '"';
  std::printf("{\"program\": \"%s\", \"n\": %s, \"executions\": %llu, \"blocked\": %llu, \"steps\": %llu, \"seconds\": %.6f}\n",
              words[0].c_str(), n.c_str(), static_cast<unsigned long long>(result.executions),
              static_cast<unsigned long long>(result.blocked),
              static_cast<unsigned long long>(result.events), result.seconds);
  if (result.verified()) return 0;
  for (const CheckFinding& finding : result.findings)
    std::fprintf(stderr, "%s: %s\n", name(finding.kind), finding.message.c_str());
  return 1;
}

}  // namespace

int main(int argc, char** argv) {
  try {
    return run(argc, argv);
  } catch (const InputError& error) {
    std::fprintf(stderr, "trace_programs: %s\n", error.what());
    return 2;
  }
}
