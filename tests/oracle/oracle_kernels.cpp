// The model-level oracles: every reduction against full enumeration, and plain accesses as steps against the normal
// mode, on all tiny kernels of five alphabets and on random larger ones. By default a sample that takes less than a
// minute.
#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <random>
#include <string>

#include "tests/oracle/compare.h"

namespace {

using namespace warpcheck;
using namespace warpcheck::oracle;
using Clock = std::chrono::steady_clock;
using Compare = Comparison (*)(const DataKernel&, uint64_t);

struct Settings {
  bool all = false;
  bool plain_steps = false;
  uint64_t seed = std::random_device{}();
  std::string alphabet;      // all if empty
  uint64_t random = 20'000;  // larger ones
  double seconds = 55;       // of a sample
};

constexpr uint64_t kMaxInterleavings = 5'000;

class Tally {
 public:
  Tally(Compare compare, std::string title) : compare_(compare), title_(std::move(title)) {}

  // Returns false when enough has gone wrong.
  bool run(const DataKernel& kernel) {
    const Comparison comparison = compare_(kernel, kMaxInterleavings);
    ++kernels_;
    skipped_ += comparison.skipped;
    raced_ += comparison.raced;
    interleavings_ += comparison.interleavings;
    traces_ += comparison.traces;
    if (comparison.complaint.empty()) return true;
    const DataKernel small = shrink(kernel, compare_, kMaxInterleavings);
    std::printf("DISAGREE %s\n  shrunk to %s\n  %s\n", text(kernel).c_str(), text(small).c_str(),
                compare_(small, kMaxInterleavings).complaint.c_str());
    return ++wrong_ < 5;
  }

  bool print() const {
    std::printf(
        "%-28s %8llu kernels, %llu too large, %llu with an error-level race, %llu interleavings, %llu traces: "
        "%llu wrong\n",
        title_.c_str(), number(kernels_), number(skipped_), number(raced_), number(interleavings_), number(traces_),
        number(wrong_));
    std::fflush(stdout);
    return wrong_ == 0;
  }

 private:
  static unsigned long long number(uint64_t n) { return n; }

  Compare compare_;
  std::string title_;
  uint64_t kernels_ = 0, skipped_ = 0, raced_ = 0, interleavings_ = 0, traces_ = 0, wrong_ = 0;
};

// All of them, or as many as fit into the time, in random order.
void run_tiny(const Alphabet& alphabet, const Settings& settings, Tally& tally, double seconds,
              std::mt19937_64& random) {
  std::vector<DataKernel> kernels = all_kernels(alphabet, 2, 3);
  std::vector<DataKernel> three = all_kernels(alphabet, 3, 2);
  kernels.insert(kernels.end(), three.begin(), three.end());
  if (!settings.all) std::shuffle(kernels.begin(), kernels.end(), random);
  const auto end = Clock::now() + std::chrono::duration<double>(seconds);
  for (const DataKernel& kernel : kernels) {
    if (!tally.run(kernel) || (!settings.all && Clock::now() > end)) return;
  }
}

void run_random(const Alphabet& alphabet, const Settings& settings, Tally& tally, double seconds, uint64_t count,
                std::mt19937_64& random) {
  const auto end = Clock::now() + std::chrono::duration<double>(seconds);
  for (uint64_t i = 0; i < count; ++i) {
    DataKernel kernel;
    do {
      kernel = random_kernel(alphabet, 4, 4, random);
    } while (copies(kernel) > 2 || operations(kernel) > 9);
    if (!tally.run(kernel) || (!settings.all && Clock::now() > end)) return;
  }
}

Settings parse(int argc, char** argv) {
  Settings settings;
  for (int i = 1; i < argc; ++i) {
    const std::string argument = argv[i];
    const auto value = [&]() -> const char* {
      if (i + 1 == argc) throw InputError(argument + " needs a value");
      return argv[++i];
    };
    if (argument == "--all") {
      settings.all = true;
    } else if (argument == "--plain-steps") {
      settings.plain_steps = true;
    } else if (argument == "--seed") {
      settings.seed = std::strtoull(value(), nullptr, 10);
    } else if (argument == "--alphabet") {
      settings.alphabet = value();
    } else if (argument == "--random") {
      settings.random = std::strtoull(value(), nullptr, 10);
    } else if (argument == "--seconds") {
      settings.seconds = std::strtod(value(), nullptr);
    } else {
      throw InputError(
          "usage: oracle_kernels [--all] [--plain-steps] [--seed S] [--alphabet NAME] [--random N] "
          "[--seconds T]");
    }
  }
  return settings;
}

int run(const Settings& settings) {
  std::printf("seed %llu\n", static_cast<unsigned long long>(settings.seed));
  std::mt19937_64 random(settings.seed);
  const Compare compare = settings.plain_steps ? compare_plain_steps : compare_reductions;
  const size_t parts = settings.alphabet.empty() ? alphabets().size() : 1;
  const double share = settings.seconds / static_cast<double>(parts) / 2;
  bool right = true;
  for (const Alphabet& alphabet : alphabets()) {
    if (!settings.alphabet.empty() && settings.alphabet != alphabet.name) continue;
    if (alphabet.acts.size() <= 6) {
      Tally tiny(compare, std::string(alphabet.name) + ", tiny");
      run_tiny(alphabet, settings, tiny, share, random);
      right = tiny.print() && right;
    }
    Tally larger(compare, std::string(alphabet.name) + ", random");
    run_random(alphabet, settings, larger, share, settings.random / parts, random);
    right = larger.print() && right;
  }
  return right ? 0 : 1;
}

}  // namespace

int main(int argc, char** argv) {
  try {
    return run(parse(argc, argv));
  } catch (const InputError& error) {
    std::fprintf(stderr, "oracle_kernels: %s\n", error.what());
    return 2;
  }
}
