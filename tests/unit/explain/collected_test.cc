// The excerpts of tests/explain/collected, each below a line "@@ SOURCE SYMPTOM|SYMPTOM": a symptom
// that may come first, or "none". Those from which patterns were written stand with their symptoms.
#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <sstream>

#include "explain/symptom_table.h"
#include "explained.h"

namespace gdr::explain {
namespace {

struct Excerpt {
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
      EXPECT_TRUE(id == "none" || SymptomTable::built_in().find(id) != nullptr)
          << excerpt.where << ": " << id;
    }
  }
}

// Nine of ten of those that were collected after the patterns were written.
TEST(Collected, FaultsGiveTheirOwnSymptomFirst) {
  int all = 0, right = 0;
  std::string others;
  for (const Excerpt& excerpt : excerpts()) {
    if (excerpt.is_ordinary()) continue;
    ++all;
    const std::string first = first_of(excerpt.text);
    if (excerpt.expects(first.empty() ? "none" : first)) {
      ++right;
    } else {
      others += excerpt.where + ": " + first + "\n" + excerpt.text;
    }
  }
  EXPECT_GE(right, 0.9 * all) << others;
  EXPECT_GE(all, 100);
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
