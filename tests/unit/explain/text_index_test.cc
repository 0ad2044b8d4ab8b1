#include "explain/text_index.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <set>

#include "nccl/lines.h"

namespace gdr::explain {
namespace {

const TextIndex& all_texts() {
  static const TextIndex index(SymptomTable::built_in(), {"a mark"});
  return index;
}

std::set<std::size_t> found(std::string_view line) {
  std::string buffer;
  std::set<std::size_t> texts;
  TextIndex::Line(all_texts())
      .scan(
          folded(line, buffer), [&](std::size_t text) { texts.insert(text); }, [](std::size_t) {});
  return texts;
}

// A line of whatever each text needs. Trying every text on every such line would take a while, so
// that is done with some.
TEST(TextIndex, MissesNoTextThatALineShows) {
  constexpr std::size_t kTriedInFull = 97;
  const auto& entries = all_texts().entries();
  for (std::size_t text = 0; text < entries.size(); ++text) {
    std::string line = "- ";
    for (const auto& need : entries[text].pattern.needs()) line += need.back() + " ";
    line += "-";
    const std::set<std::size_t> texts = found(line);
    EXPECT_EQ(texts.count(text), 1u) << line << "has not " << entries[text].pattern.shown();
    if (text % kTriedInFull != 0) continue;
    std::string buffer;
    const std::string_view words = folded(line, buffer);
    for (std::size_t other = 0; other < entries.size(); ++other) {
      if (!entries[other].pattern.matches(words)) continue;
      EXPECT_EQ(texts.count(other), 1u) << line << "shows " << entries[other].pattern.shown();
    }
  }
}

TEST(TextIndex, TellsOfMarksBesides) {
  std::vector<std::size_t> marks;
  TextIndex::Line(all_texts())
      .scan(
          "this is a mark.", [](std::size_t) {}, [&](std::size_t mark) { marks.push_back(mark); });
  EXPECT_EQ(marks, std::vector<std::size_t>{0});
}

// That is what makes it quick: a text is tried in few lines of logs in which nothing is wrong, even
// where they are about RDMA.
TEST(TextIndex, HasLittleToTryInOrdinaryLogs) {
  std::size_t lines = 0, tried = 0;
  for (const auto& file : std::filesystem::directory_iterator(GDR_ORDINARY_LOGS)) {
    std::ifstream log(file.path());
    for (std::string line; std::getline(log, line);) {
      ++lines;
      tried += found(line).size();
    }
  }
  ASSERT_GT(lines, 1000u);
  EXPECT_LT(tried, 3 * lines) << lines << " lines";
}

}  // namespace
}  // namespace gdr::explain
