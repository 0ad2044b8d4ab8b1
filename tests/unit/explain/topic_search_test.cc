#include "explain/topic_search.h"

#include <gtest/gtest.h>

#include <algorithm>

namespace gdr::explain {
namespace {

const TopicSearch& search() {
  static const TopicSearch all(SymptomTable::built_in());
  return all;
}

std::string first_for(std::string_view words) {
  const auto found = search().nearest(words, 1);
  return found.empty() ? "" : found.front()->id;
}

TEST(TopicSearch, FindsASymptomByWordsOfItsTitleWhateverTheirFormIs) {
  EXPECT_EQ(first_for("Locked-memory limits, too LOW"), "locked-memory");
  EXPECT_EQ(first_for("nvidia-peermem not found"), "peermem-not-found");
}

TEST(TopicSearch, FindsEachByItsOwnTitle) {
  std::size_t right = 0;
  for (const Symptom& symptom : SymptomTable::built_in().all()) {
    const auto found = search().nearest(symptom.title, 3);
    right += static_cast<std::size_t>(std::ranges::find(found, &symptom) != found.end());
  }
  EXPECT_GE(right, SymptomTable::built_in().all().size() * 99 / 100);
}

TEST(TopicSearch, GivesNoMoreThanIsAskedFor) {
  EXPECT_EQ(search().nearest("GPU memory registration failed", 3).size(), 3u);
  EXPECT_TRUE(search().nearest("GPU memory registration failed", 0).empty());
}

TEST(TopicSearch, HasNothingForOneCommonWordAmongStrangeOnes) {
  EXPECT_TRUE(search().nearest("", 3).empty());
  EXPECT_TRUE(search().nearest("xyzzy", 3).empty());
  EXPECT_TRUE(search().nearest("xyzzy plugh memory", 3).empty());
  EXPECT_FALSE(search().nearest("memory", 3).empty());
}

}  // namespace
}  // namespace gdr::explain
