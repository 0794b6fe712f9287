// examples/bugs: every launch has the verdict, kind, cause and lines of expected.txt, and the page tells of every folder.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <nlohmann/json.hpp>
#include <set>

#include "tests/support/command.h"

namespace warpcheck::testing {
namespace {

using ::testing::HasSubstr;
using Json = nlohmann::json;
namespace fs = std::filesystem;

const fs::path kGallery = WARPCHECK_GALLERY;

struct Expected {
  std::string folder, variant, verdict, kinds, what, lines;  // columns of expected.txt
};

void PrintTo(const Expected& launch, std::ostream* stream) { *stream << launch.folder << " " << launch.variant; }

std::vector<Expected> expected() {
  std::vector<Expected> launches;
  std::istringstream text(read_file(kGallery / "expected.txt"));
  for (std::string line; std::getline(text, line);) {
    std::istringstream words(line);
    Expected e;
    if (line.starts_with('#') || !(words >> e.folder >> e.variant >> e.verdict >> e.kinds >> e.what >> e.lines)) continue;
    launches.push_back(e);
  }
  return launches;
}

std::set<std::string> split(const std::string& list) {
  std::set<std::string> items;
  std::istringstream stream(list);
  for (std::string item; std::getline(stream, item, ',');) items.insert(item);
  return items;
}

std::set<std::string> lines_of(const Json& finding) {
  std::set<std::string> lines;
  for (const Json& site : finding["sites"]) {
    if (site.contains("line")) lines.insert(site["line"].dump());
    for (const Json& caller : site.value("inlined_at", Json::array())) lines.insert(caller["line"].dump());
  }
  return lines;
}

bool says(const Json& finding, const Expected& launch) {
  if (!split(launch.kinds).contains(finding["kind"].get<std::string>())) return false;
  if (finding["strict"].get<bool>() != (launch.what == "strict")) return false;
  if (launch.what == "proxy" && finding["cause"] != "missing proxy fence") return false;
  if (launch.lines == "-" || launch.what == "strict") return true;
  const std::set<std::string> lines = lines_of(finding), wanted = split(launch.lines);
  return std::any_of(wanted.begin(), wanted.end(), [&](const std::string& line) { return lines.contains(line); });
}

class Gallery : public ::testing::TestWithParam<Expected> {};

TEST_P(Gallery, SaysWhatItMust) {
  const Expected& launch = GetParam();
  const Folder out;
  const std::string file = (kGallery / launch.folder / (launch.variant + ".toml")).string();
  const Outcome outcome = run(WARPCHECK_COMMAND, {"check", file, "--json", "--keep-going", "--workers", "1"}, out.path());
  ASSERT_NE(outcome.exit_code, 2) << outcome.err;
  const Json result = Json::parse(outcome.out);
  const Json& findings = result["findings"];
  if (!result["unsupported"].empty()) {
    EXPECT_NE(result["verdict"], "verified");
    GTEST_SKIP() << "not supported yet: " << result["unsupported"];
  }
  EXPECT_EQ(result["verdict"], launch.verdict) << findings.dump(1);
  if (launch.kinds == "-") return;
  EXPECT_TRUE(std::any_of(findings.begin(), findings.end(), [&](const Json& f) { return says(f, launch); }))
      << "expected " << launch.kinds << " " << launch.what << " at " << launch.lines << ", found " << findings.dump(1);
}

INSTANTIATE_TEST_SUITE_P(Launches, Gallery, ::testing::ValuesIn(expected()), [](const auto& launch) {
  return launch.param.folder + "_" + launch.param.variant;
});

TEST(GalleryPage, TellsEveryFolder) {
  const std::string page = read_file(kGallery / "README.md");
  std::set<std::string> folders;
  for (const Expected& launch : expected()) folders.insert(launch.folder);
  EXPECT_FALSE(folders.empty());
  for (const std::string& folder : folders) EXPECT_THAT(page, HasSubstr("(" + folder + "/" + folder + ".cu)"));
}

TEST(GalleryPage, ShowsReportsAndPictures) {
  const std::string page = read_file(kGallery / "README.md");
  std::istringstream told(read_file(kGallery / "told.txt"));
  for (std::string line; std::getline(told, line);) {
    if (line.starts_with('#')) continue;
    const std::string folder = line.substr(0, line.find(' '));
    for (const char* file : {"report.txt", "graph.svg"}) {
      EXPECT_THAT(page, HasSubstr("(" + folder + "/" + file + ")"));
      EXPECT_TRUE(fs::exists(kGallery / folder / file)) << folder << "/" << file << " is missing: run refresh.sh";
    }
  }
}

}  // namespace
}  // namespace warpcheck::testing
