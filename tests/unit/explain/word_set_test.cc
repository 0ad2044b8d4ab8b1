#include "explain/word_set.h"

#include <gtest/gtest.h>

namespace gdr::explain {
namespace {

// Whether some place of `line` begins with a member.
bool has(const char* set, std::string_view line) {
  const WordSet* words = find_word_set(set);
  if (words == nullptr) return false;
  bool found = false;
  for (std::size_t at = 0; at < line.size(); ++at) {
    found = found || words->past(line, at) != std::string_view::npos;
  }
  EXPECT_EQ(words->is_in(line), found) << set << ": " << line;
  return found;
}

TEST(WordSet, TakesAnErrorByNameMessageOrNumber) {
  for (const char* line :
       {"efault", "bad address", "errno 14", "errno=14", "error: 14", "ret = -14", "[14]", "(14)",
        "rc: -14", "failed with error 14", "code -14"}) {
    EXPECT_TRUE(has("EFAULT", line)) << line;
  }
}

TEST(WordSet, TakesNoOtherNumberForAnError) {
  for (const char* line : {"14 devices", "mlx5_14", "errno 140", "errno 1", "version 5.14",
                           "connectx-14", "14gb", "error 0x14", "channel 14/0"}) {
    EXPECT_FALSE(has("EFAULT", line)) << line;
  }
}

// Too many programs return 1 or -1 for anything.
TEST(WordSet, TakesOneForNotPermittedOnlyAsErrno) {
  EXPECT_TRUE(has("EPERM", "errno 1"));
  EXPECT_TRUE(has("EPERM", "operation not permitted"));
  EXPECT_FALSE(has("EPERM", "error: -1"));
  EXPECT_FALSE(has("EPERM", "returned 1"));
}

// "[5] NCCL WARN" is what rank 5 says.
TEST(WordSet, TakesASmallNumberInBracketsForARank) {
  EXPECT_FALSE(has("EIO", "host:1:2 [5] nccl warn"));
  EXPECT_FALSE(has("EIO", "(5)"));
  EXPECT_TRUE(has("EIO", "errno 5"));
  EXPECT_TRUE(has("EIO", "input/output error [5]"));
  EXPECT_TRUE(has("EINVAL", "result: 22"));
}

TEST(WordSet, DoesNotBeginWithinAWord) {
  EXPECT_TRUE(has("register", "cannot register memory"));
  EXPECT_FALSE(has("register", "cannot deregister memory"));
}

TEST(WordSet, IsNotThereUnderAnotherName) { EXPECT_EQ(find_word_set("EXAMPLE"), nullptr); }

}  // namespace
}  // namespace gdr::explain
