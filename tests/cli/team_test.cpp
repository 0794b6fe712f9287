// What continuous integration reads: JUnit XML, SARIF, baselines.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <boost/property_tree/ptree.hpp>
#include <boost/property_tree/xml_parser.hpp>
#include <nlohmann/json.hpp>
#include <random>

#include "frontends/cli/baseline.h"
#include "model/machine.h"
#include "tests/cli/cli.h"

namespace warpcheck::testing {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;
using ::testing::StartsWith;
using Json = nlohmann::json;
using Tree = boost::property_tree::ptree;

Json json_file(const std::string& path) { return Json::parse(read_file(path)); }

Tree xml_file(const std::string& path) {
  Tree tree;
  std::istringstream stream(read_file(path));
  boost::property_tree::read_xml(stream, tree);
  return tree;
}

TEST(Junit, ATestCaseALaunch) {
  const Folder folder;
  const Outcome outcome = warpcheck({"check", kRight, kBroken, "--junit", "result.xml"}, folder);
  EXPECT_EQ(outcome.exit_code, 1) << outcome.err;
  const Tree suite = xml_file(folder / "result.xml").get_child("testsuites.testsuite");
  EXPECT_EQ(suite.get<int>("<xmlattr>.tests"), 2);
  EXPECT_EQ(suite.get<int>("<xmlattr>.failures"), 1);
  EXPECT_EQ(suite.get<int>("<xmlattr>.errors"), 0);
  std::vector<Tree> cases;
  for (const auto& [key, value] : suite) {
    if (key == "testcase") cases.push_back(value);
  }
  ASSERT_EQ(cases.size(), 2U);
  EXPECT_EQ(cases[0].get<std::string>("<xmlattr>.name"), kRight);
  EXPECT_EQ(cases[0].get<std::string>("<xmlattr>.classname"), "ring");
  EXPECT_FALSE(cases[0].get_child_optional("failure"));
  EXPECT_EQ(cases[1].get<std::string>("failure.<xmlattr>.type"), "race");
  EXPECT_THAT(cases[1].get<std::string>("failure.<xmlattr>.message"), StartsWith("race on shared slots"));
  EXPECT_THAT(cases[1].get<std::string>("failure"), HasSubstr("copy_tile(slots[s], in + t * kTile, &full[s]);"));
}

TEST(Junit, AnIncompleteSearchIsAnError) {
  const Folder folder;
  const Outcome outcome = warpcheck(
      {"check", kRight, "--reduction", "none", "--max-executions", "1", "--junit", "result.xml"}, folder);
  EXPECT_EQ(outcome.exit_code, 3) << outcome.err;
  const Tree suite = xml_file(folder / "result.xml").get_child("testsuites.testsuite");
  EXPECT_EQ(suite.get<int>("<xmlattr>.errors"), 1);
  EXPECT_EQ(suite.get<int>("<xmlattr>.skipped"), 0);
  EXPECT_NE(suite.get<std::string>("testcase.error.<xmlattr>.message"), "");
}

TEST(Junit, CannotBeWrittenIsToldBeforeTheSearch) {
  const Folder folder;
  const Outcome outcome = warpcheck({"check", kRight, "--junit", "missing/result.xml"}, folder);
  EXPECT_EQ(outcome.exit_code, 2);
  EXPECT_EQ(outcome.err, "warpcheck: missing/result.xml: cannot be written\n");
}

TEST(Sarif, NamesRulesAndBothPlaces) {
  const Folder folder;
  const std::string file = folder / "result.sarif", out = folder / "out";
  const Outcome outcome =
      run(WARPCHECK_COMMAND, {"check", "ring/ring_broken.toml", "--sarif", file, "--out", out}, kExamples);
  EXPECT_EQ(outcome.exit_code, 1) << outcome.err;
  const Json log = json_file(file);
  EXPECT_EQ(log["version"], "2.1.0");
  const Json& ran = log["runs"].at(0);
  EXPECT_EQ(ran["invocations"][0]["executionSuccessful"], true);
  const Json& result = ran["results"].at(0);
  const Json& rules = ran["tool"]["driver"]["rules"];
  EXPECT_EQ(rules.at(result["ruleIndex"].get<size_t>())["id"], result["ruleId"]);
  EXPECT_EQ(result["ruleId"], "race");
  EXPECT_EQ(result["level"], "error");
  EXPECT_THAT(result["message"]["text"].get<std::string>(), HasSubstr("race on shared slots[0..63]"));
  const Json& place = result["locations"].at(0)["physicalLocation"];
  EXPECT_EQ(place["artifactLocation"]["uri"], "ring/ring.cu");
  EXPECT_EQ(place["artifactLocation"]["uriBaseId"], "%SRCROOT%");
  EXPECT_EQ(place["region"]["startLine"], 59);
  const Json& other = result["relatedLocations"].at(0);
  EXPECT_EQ(other["physicalLocation"]["region"]["startLine"], 69);
  EXPECT_EQ(other["id"], 1);
  EXPECT_THAT(result["partialFingerprints"]["warpcheckFinding/v1"].get<std::string>(), ::testing::MatchesRegex("[0-9a-f]*:1"));
}

TEST(Sarif, FingerprintsDoNotDependOnTheFolder) {
  const Folder folder;
  const std::string here = folder / "here.sarif", there = folder / "there.sarif", out = folder / "out";
  run(WARPCHECK_COMMAND, {"check", "ring/ring_broken.toml", "--sarif", here, "--out", out}, kExamples);
  run(WARPCHECK_COMMAND, {"check", kBroken, "--sarif", there, "--out", out}, folder.path());
  const auto print = [](const std::string& file) { return json_file(file)["runs"][0]["results"][0]["partialFingerprints"]; };
  EXPECT_EQ(print(here), print(there));
}

TEST(Sarif, AnIncompleteSearchIsANotification) {
  const Folder folder;
  warpcheck({"check", kRight, "--reduction", "none", "--max-executions", "1", "--sarif", "result.sarif"}, folder);
  const Json ran = json_file(folder / "result.sarif")["runs"][0];
  for (const Json& result : ran["results"]) EXPECT_EQ(result["level"], "warning");
  const Json& invocation = ran["invocations"][0];
  EXPECT_EQ(invocation["executionSuccessful"], false);
  EXPECT_THAT(invocation["toolExecutionNotifications"].at(0)["message"]["text"].get<std::string>(),
              HasSubstr("the search is incomplete"));
}

TEST(Baseline, AcceptsWhatItListsAndStillTellsIt) {
  const Folder folder;
  EXPECT_EQ(warpcheck({"check", kBroken, "--write-baseline", "known.json"}, folder).exit_code, 1);
  const Outcome outcome = warpcheck({"check", kBroken, "--baseline", "known.json"}, folder);
  EXPECT_EQ(outcome.exit_code, 0) << outcome.err;
  EXPECT_THAT(outcome.out, HasSubstr("KNOWN  race on shared slots"));
  EXPECT_THAT(outcome.out, Not(HasSubstr("verified")));
  EXPECT_EQ(outcome.err, "");
  const Outcome json = warpcheck({"check", kBroken, "--baseline", "known.json", "--json", "--junit", "known.xml", "--sarif", "known.sarif"}, folder);
  EXPECT_EQ(json.exit_code, 0);
  const Json result = Json::parse(json.out);
  EXPECT_EQ(result["verdict"], "violation");
  EXPECT_EQ(result["accepted"], result["findings"].size());
  EXPECT_EQ(result["findings"][0]["accepted"], true);
  EXPECT_EQ(xml_file(folder / "known.xml").get<int>("testsuites.<xmlattr>.failures"), 0);
  EXPECT_EQ(json_file(folder / "known.sarif")["runs"][0]["results"][0]["suppressions"][0]["kind"], "external");
  const Outcome several = warpcheck({"check", kRight, kBroken, "--baseline", "known.json"}, folder);
  EXPECT_THAT(several.out, HasSubstr("2 launches: 1 verified, 0 in violation, 0 incomplete, 1 with accepted violations alone"));
}

TEST(Baseline, AFindingThatIsNotListedFails) {
  const Folder folder;
  warpcheck({"check", kBroken, "--write-baseline", "known.json"}, folder);
  Json known = json_file(folder / "known.json");
  known["findings"].erase(0);
  write_file(folder / "known.json", known.dump());
  EXPECT_EQ(warpcheck({"check", kBroken, "--baseline", "known.json"}, folder).exit_code, 1);
}

TEST(Baseline, FollowsMovedLinesByTheirText) {
  const Folder folder;
  warpcheck({"check", kBroken, "--write-baseline", "known.json"}, folder);
  Json known = json_file(folder / "known.json");
  const auto change = [&](const char* key, const Json& value) {
    for (Json& finding : known["findings"]) {
      for (Json& site : finding["sites"]) site[key] = value;
    }
    write_file(folder / "known.json", known.dump());
  };
  change("line", 7);
  EXPECT_EQ(warpcheck({"check", kBroken, "--baseline", "known.json"}, folder).exit_code, 0);
  change("text", "another line");
  EXPECT_EQ(warpcheck({"check", kBroken, "--baseline", "known.json"}, folder).exit_code, 1);
}

TEST(Baseline, AnEntryAcceptsOneFindingOfALaunch) {
  const Folder folder;
  warpcheck({"check", kBroken, "--write-baseline", "known.json"}, folder);
  const size_t listed = json_file(folder / "known.json")["findings"].size();
  // Two launches of one kernel need no second list.
  warpcheck({"check", kBroken, kBroken, "--write-baseline", "both.json"}, folder);
  EXPECT_EQ(json_file(folder / "both.json")["findings"].size(), listed);
  EXPECT_EQ(warpcheck({"check", kBroken, kBroken, "--baseline", "known.json"}, folder).exit_code, 0);
}

TEST(Baseline, NeverEndsASearchThatIsIncomplete) {
  const Folder folder;
  warpcheck({"check", kBroken, "--write-baseline", "known.json"}, folder);
  const Outcome outcome = warpcheck(
      {"check", kBroken, "--baseline", "known.json", "--reduction", "none", "--max-executions", "2"}, folder);
  EXPECT_EQ(outcome.exit_code, 3) << outcome.out;
  EXPECT_THAT(outcome.out, StartsWith("????"));
}

TEST(Baseline, StaleEntriesAreTold) {
  const Folder folder;
  warpcheck({"check", kBroken, "--write-baseline", "known.json"}, folder);
  const Outcome mended =
      warpcheck({"check", kBroken, "--ptx", kExamples + "/ring/ring.ptx", "--baseline", "known.json"}, folder);
  EXPECT_EQ(mended.exit_code, 0);
  EXPECT_THAT(mended.err, HasSubstr("warpcheck: known.json: no longer found: race on shared slots in ring (ring.cu:59, "));
  const Outcome another = warpcheck({"check", kRight, "--baseline", "known.json"}, folder);
  EXPECT_EQ(another.err, "") << "its launch was not checked";
}

TEST(Baseline, KeepsReasons) {
  const Folder folder;
  warpcheck({"check", kBroken, "--write-baseline", "known.json"}, folder);
  Json known = json_file(folder / "known.json");
  known["findings"][0]["reason"] = "mended by the next release";
  write_file(folder / "known.json", known.dump());
  warpcheck({"check", kBroken, "--baseline", "known.json", "--write-baseline", "known.json"}, folder);
  EXPECT_EQ(json_file(folder / "known.json"), known);
}

TEST(Baseline, ADamagedOneIsBadInput) {
  const Folder folder;
  for (const char* text : {"", "{}", "[1]", "{\"schema\": 2, \"baseline\": true, \"findings\": []}",
                           "{\"schema\": 1, \"baseline\": true, \"findings\": [{\"kernel\": 3}]}"}) {
    write_file(folder / "known.json", text);
    const Outcome outcome = warpcheck({"check", kRight, "--baseline", "known.json"}, folder);
    EXPECT_EQ(outcome.exit_code, 2) << text;
    EXPECT_EQ(std::count(outcome.err.begin(), outcome.err.end(), '\n'), 1) << outcome.err;
  }
}

TEST(Baseline, MutatedFilesAreReadOrRefused) {
  const Folder folder;
  warpcheck({"check", kBroken, "--write-baseline", "known.json"}, folder);
  const std::string good = read_file(folder / "known.json");
  std::mt19937 random(1);
  for (int i = 0; i < 1000; ++i) {
    std::string bad = good;
    const size_t at = random() % bad.size();
    if (random() % 2 == 0) {
      bad[at] = "0123456789[]{}\",:.-\xff"[random() % 20];
    } else {
      bad.erase(at, 1 + random() % 30);
    }
    write_file(folder / "bad.json", bad);
    try {
      cli::Baseline::read(folder / "bad.json");
    } catch (const InputError&) {
    }
  }
}

}  // namespace
}  // namespace warpcheck::testing
