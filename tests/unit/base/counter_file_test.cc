#include "base/counter_file.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>

#include "file_size_limit.h"
#include "scratch_folder.h"

namespace gdr {
namespace {

constexpr const char* kNames[] = {"one", "two", "three"};
constexpr const char* kOthers[] = {"one", "two", "four"};

class CounterFileTest : public testing::Test {
 protected:
  std::string text() const { return test::text_of_file(path_); }

  test::ScratchFolder scratch_;
  std::string folder_ = scratch_.root(), path_ = scratch_.at("counters");
};

TEST_F(CounterFileTest, HoldsWhatIsCountedUnderItsName) {
  const auto values = map_counters(path_, kNames);
  ASSERT_TRUE(values) << values.error().message;
  (*values)[1] += 5;
  const auto counts = read_counters(path_);
  ASSERT_TRUE(counts) << counts.error().message;
  ASSERT_EQ(counts->size(), 3u);
  EXPECT_EQ((*counts)[0].name, "one");
  EXPECT_EQ((*counts)[0].value, 0u);
  EXPECT_EQ((*counts)[1].name, "two");
  EXPECT_EQ((*counts)[1].value, 5u);
}

TEST_F(CounterFileTest, IsSharedByAllThatCountInIt) {
  const auto values = map_counters(path_, kNames), others = map_counters(path_, kNames);
  ASSERT_TRUE(values && others);
  EXPECT_NE(*values, *others);
  (*values)[0] += 2;
  (*others)[0] += 3;
  EXPECT_EQ((*read_counters(path_))[0].value, 5u);
}

TEST_F(CounterFileTest, CountsOnWhereAnEarlierRunHasEnded) {
  (**map_counters(path_, kNames))++;
  const auto again = map_counters(path_, kNames);
  ASSERT_TRUE(again);
  EXPECT_EQ(**again, 1u);
}

TEST_F(CounterFileTest, IsReadableByItsOwnerAlone) {
  ASSERT_TRUE(map_counters(path_, kNames));
  struct stat status {};
  ASSERT_EQ(stat(path_.c_str(), &status), 0);
  EXPECT_EQ(status.st_mode & 0777, 0600u);
}

TEST_F(CounterFileTest, LeavesAFileOfAnotherKindAsItIs) {
  for (const std::size_t length : {1, 24, 216, 100'000}) {
    const std::string before(length, 'x');
    std::ofstream(path_, std::ios::trunc) << before;
    const auto values = map_counters(path_, kNames);
    ASSERT_FALSE(values) << length;
    EXPECT_EQ(values.error().code, EINVAL);
    EXPECT_NE(values.error().message.find(path_ + ": the file exists"), std::string::npos);
    EXPECT_EQ(text(), before) << length;
    EXPECT_EQ(read_counters(path_).error().code, EINVAL);
  }
}

TEST_F(CounterFileTest, LeavesOtherCountersAsTheyAre) {
  (**map_counters(path_, kOthers))++;
  const std::string before = text();
  EXPECT_FALSE(map_counters(path_, kNames));
  EXPECT_FALSE(map_counters(path_, std::span(kNames).first(2)));
  EXPECT_EQ(text(), before);
}

TEST_F(CounterFileTest, IsNoLinkNoPipeAndNoFolder) {
  ASSERT_EQ(symlink("/nowhere", path_.c_str()), 0);
  EXPECT_EQ(map_counters(path_, kNames).error().code, ELOOP);
  std::filesystem::remove(path_);
  ASSERT_EQ(mkfifo(path_.c_str(), 0600), 0);
  EXPECT_FALSE(map_counters(path_, kNames));
  EXPECT_FALSE(read_counters(path_));
  EXPECT_FALSE(map_counters(folder_, kNames));
  EXPECT_FALSE(read_counters(folder_));
  EXPECT_EQ(read_counters(folder_ + "/missing").error().code, ENOENT);
}

TEST_F(CounterFileTest, StaysANewOneWhereItsBytesDoNotFit) {
  {
    const test::FileSizeLimit limit(20);
    EXPECT_FALSE(map_counters(path_, kNames));
  }
  EXPECT_TRUE(map_counters(path_, kNames));
}

// A count that says more than the file holds.
TEST_F(CounterFileTest, WithAWrongCountIsRefused) {
  ASSERT_TRUE(map_counters(path_, kNames));
  for (const std::uint64_t count : {std::uint64_t{0}, std::uint64_t{4}, ~std::uint64_t{0}}) {
    std::fstream file(path_, std::ios::binary | std::ios::in | std::ios::out);
    file.seekp(16);
    file.write(reinterpret_cast<const char*>(&count), sizeof count);
    file.close();
    EXPECT_FALSE(read_counters(path_)) << count;
    EXPECT_FALSE(map_counters(path_, kNames)) << count;
  }
}

}  // namespace
}  // namespace gdr
