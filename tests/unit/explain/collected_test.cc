// The excerpts of tests/explain/collected, each below a line "@@ SOURCE SYMPTOM|SYMPTOM": a symptom
// that may come first, or "none". In one process, since a start of `gdr explain` builds its tables.
#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <map>
#include <sstream>

#include "explain/symptom.h"
#include "explained.h"

namespace gdr::explain {
namespace {

struct Excerpt {
  std::string set;    // known, said or kept
  std::string where;  // file and source
  std::string source;
  std::vector<std::string> expected;
  std::string text;

  bool is_ordinary() const { return expected == std::vector<std::string>{"none"}; }
  bool expects(std::string_view id) const {
    return std::find(expected.begin(), expected.end(), id) != expected.end();
  }
};

std::vector<Excerpt> excerpts_of(const std::filesystem::path& path) {
  const std::string name = path.stem().string();
  std::vector<Excerpt> list;
  std::ifstream file(path);
  for (std::string line; std::getline(file, line);) {
    if (!line.starts_with("@@ ")) {
      if (!list.empty()) list.back().text += line + "\n";
      continue;
    }
    std::istringstream words(line.substr(3));
    Excerpt excerpt;
    excerpt.set = name.substr(0, name.find('-'));
    std::string expected;
    words >> excerpt.source >> expected;
    excerpt.where = name + ": " + excerpt.source;
    std::istringstream symptoms(expected);
    for (std::string id; std::getline(symptoms, id, '|');) excerpt.expected.push_back(id);
    list.push_back(std::move(excerpt));
  }
  return list;
}

const std::vector<Excerpt>& excerpts() {
  static const std::vector<Excerpt> all = [] {
    std::vector<Excerpt> list;
    for (const auto& entry : std::filesystem::directory_iterator(GDR_COLLECTED_TEXTS)) {
      if (entry.path().extension() != ".txt") continue;
      for (Excerpt& excerpt : excerpts_of(entry.path())) list.push_back(std::move(excerpt));
    }
    return list;
  }();
  return all;
}

TEST(Collected, NameTheirSourceAndSymptomsThatThereAre) {
  for (const Excerpt& excerpt : excerpts()) {
    EXPECT_TRUE(excerpt.source.find('#') != std::string::npos ||
                excerpt.source.starts_with("https://"))
        << excerpt.where;
    EXPECT_FALSE(excerpt.expected.empty()) << excerpt.where;
    for (const std::string& id : excerpt.expected) {
      EXPECT_TRUE(id == "none" || find_symptom(id) != nullptr) << excerpt.where << ": " << id;
    }
  }
}

TEST(Collected, FaultsGiveTheirOwnSymptomFirst) {
  // Those from which patterns were written are all known, and nine of ten of those kept apart.
  const std::map<std::string, double> least = {{"known", 1.0}, {"said", 1.0}, {"kept", 0.9}};
  std::map<std::string, int> all_of, right;
  std::string others;
  for (const Excerpt& excerpt : excerpts()) {
    if (excerpt.is_ordinary()) continue;
    ++all_of[excerpt.set];
    const std::string first = first_of(excerpt.text);
    if (excerpt.expects(first.empty() ? "none" : first)) {
      ++right[excerpt.set];
    } else {
      others += excerpt.where + ": " + first + "\n" + excerpt.text;
    }
  }
  int sum = 0;
  for (const auto& [set, count] : all_of) {
    ASSERT_TRUE(least.contains(set)) << set;
    EXPECT_GE(right[set], least.at(set) * count) << set << ", of " << count << "\n" << others;
    sum += count;
  }
  EXPECT_GE(sum, 1000);
}

TEST(Collected, OrdinaryExcerptsGiveNone) {
  int ordinary = 0;
  for (const Excerpt& excerpt : excerpts()) {
    if (!excerpt.is_ordinary()) continue;
    ++ordinary;
    EXPECT_EQ(ids(explain(excerpt.text)), Ids{}) << excerpt.where << "\n" << excerpt.text;
  }
  EXPECT_GE(ordinary, 90);
}

}  // namespace
}  // namespace gdr::explain
