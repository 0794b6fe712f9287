// The house as docs/design.md draws it: who may include whom, where each library lives, what no file may contain.
#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <regex>
#include <string>
#include <vector>

namespace {

namespace fs = std::filesystem;

const fs::path kSource = WARPCHECK_SOURCE;
const std::vector<std::string> kRooms = {"model",         "explorer",      "frontends/cpp", "frontends/ptx",
                                         "frontends/pallas", "frontends/cli", "visualize"};

struct Include {
  std::string file;  // relative to the source folder
  std::string what;
};

bool is_code(const fs::path& path) { return path.extension() == ".h" || path.extension() == ".cpp"; }

std::vector<std::string> files_of(const std::string& room) {
  std::vector<std::string> files;
  if (!fs::exists(kSource / room)) return files;
  for (const auto& entry : fs::recursive_directory_iterator(kSource / room)) {
    if (entry.is_regular_file() && is_code(entry.path())) files.push_back(fs::relative(entry.path(), kSource).string());
  }
  std::sort(files.begin(), files.end());
  return files;
}

std::vector<Include> includes_of(const std::string& room) {
  static const std::regex kInclude(R"(^\s*#\s*include\s*[<"]([^>"]+)[>"])");
  std::vector<Include> includes;
  for (const std::string& file : files_of(room)) {
    std::ifstream stream(kSource / file);
    std::smatch match;
    for (std::string line; std::getline(stream, line);) {
      if (std::regex_search(line, match, kInclude)) includes.push_back({file, match[1]});
    }
  }
  return includes;
}

// The room that an include of ours leads to; "" for anything else.
std::string room_of(const std::string& include) {
  for (const std::string& room : kRooms) {
    if (include.starts_with(room + "/")) return room;
  }
  return "";
}

void expect_only(const std::string& room, const std::vector<std::string>& allowed) {
  for (const Include& include : includes_of(room)) {
    const std::string target = room_of(include.what);
    if (target.empty() || target == room) continue;
    EXPECT_TRUE(std::find(allowed.begin(), allowed.end(), target) != allowed.end())
        << include.file << " includes " << include.what << ", and " << room << " may not see " << target;
  }
}

// Includes that start with one of `prefixes` stand only in files whose path starts with `home`.
void expect_home(const std::string& home, const std::vector<std::string>& prefixes) {
  for (const std::string& room : kRooms) {
    for (const Include& include : includes_of(room)) {
      const bool theirs = std::any_of(prefixes.begin(), prefixes.end(),
                                      [&](const std::string& prefix) { return include.what.starts_with(prefix); });
      if (theirs) {
        EXPECT_TRUE(include.file.starts_with(home)) << include.file << " includes " << include.what << ", whose home is "
                                                    << home;
      }
    }
  }
}

TEST(House, ModelIncludesNothingOfOurs) { expect_only("model", {}); }
TEST(House, ExplorerSeesTheModel) { expect_only("explorer", {"model"}); }
TEST(House, VisualizeSeesTheModel) { expect_only("visualize", {"model"}); }
TEST(House, PtxSeesTheModel) { expect_only("frontends/ptx", {"model"}); }
TEST(House, CppSeesModelAndExplorer) { expect_only("frontends/cpp", {"model", "explorer"}); }
TEST(House, PallasSeesModelAndExplorer) { expect_only("frontends/pallas", {"model", "explorer"}); }

TEST(House, TheRoomsAreThere) {
  for (const std::string room : {"model", "explorer", "frontends/cpp", "frontends/ptx", "frontends/cli", "visualize"}) {
    EXPECT_FALSE(files_of(room).empty()) << room;
  }
}

TEST(House, EachLibraryHasOneHome) {
  expect_home("frontends/cpp/fiber", {"boost/context"});
  expect_home("model/footprint", {"boost/icl"});
  expect_home("explorer/worker_pool", {"tbb/", "oneapi/"});
  expect_home("visualize/graph", {"gvc.h", "cgraph.h", "graphviz/"});
  expect_home("frontends/ptx/launch_file", {"toml++/", "toml.hpp"});
  expect_home("frontends/cli/", {"CLI/", "nlohmann/"});
  expect_home("frontends/cpp/gtest", {"gtest/", "gmock/"});
}

TEST(House, HeadersAreGuarded) {
  for (const std::string& room : kRooms) {
    for (const std::string& file : files_of(room)) {
      if (!file.ends_with(".h")) continue;
      std::ifstream stream(kSource / file);
      std::string line;
      bool guarded = false;
      while (!guarded && std::getline(stream, line)) guarded = line == "#pragma once";
      EXPECT_TRUE(guarded) << file;
    }
  }
}

TEST(House, NoFileNamesAPlaceOfOneMachine) {
  const std::regex place("/(home|work|root)/[a-z]");
  for (const std::string folder : {"model", "explorer", "frontends", "visualize", "examples", "docs", "cmake"}) {
    if (!fs::exists(kSource / folder)) continue;
    for (const auto& entry : fs::recursive_directory_iterator(kSource / folder)) {
      if (!entry.is_regular_file() || entry.path().extension() == ".png") continue;
      std::ifstream stream(entry.path());
      for (std::string line; std::getline(stream, line);) {
        EXPECT_FALSE(std::regex_search(line, place)) << entry.path() << ": " << line;
      }
    }
  }
}

TEST(House, LinksInDocumentsLead) {
  const std::regex link(R"(\]\(([^)#: ]+)(#[^)]*)?\))");
  std::vector<fs::path> documents = {kSource / "README.md", kSource / "examples/README.md",
                                     kSource / "examples/bugs/README.md"};
  for (const auto& entry : fs::directory_iterator(kSource / "docs")) {
    if (entry.path().extension() == ".md") documents.push_back(entry.path());
  }
  for (const fs::path& document : documents) {
    std::ifstream stream(document);
    for (std::string line; std::getline(stream, line);) {
      for (std::sregex_iterator at(line.begin(), line.end(), link), end; at != end; ++at) {
        EXPECT_TRUE(fs::exists(document.parent_path() / (*at)[1].str())) << document << " links to " << (*at)[1];
      }
    }
  }
}

}  // namespace
