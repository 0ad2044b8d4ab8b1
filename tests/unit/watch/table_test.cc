#include "watch/table.h"

#include <gtest/gtest.h>

#include <atomic>
#include <thread>

namespace gdr::watch {
namespace {

TEST(WatchTable, FindsWhatWasInsertedUntilItIsRemoved) {
  static Table<64> table;
  EXPECT_TRUE(table.insert(7, 70));
  EXPECT_TRUE(table.insert(8, 80));
  EXPECT_EQ(table.find(7), 70U);
  EXPECT_EQ(table.remove(7), 70U);
  EXPECT_EQ(table.find(7), 0U);
  EXPECT_EQ(table.remove(7), 0U);
  EXPECT_EQ(table.find(8), 80U);
}

TEST(WatchTable, InsertsInPlaceOfWhatTheKeyHad) {
  static Table<64> table;
  EXPECT_TRUE(table.insert(7, 70));
  EXPECT_TRUE(table.insert(7, 71));
  EXPECT_EQ(table.remove(7), 71U);
  EXPECT_EQ(table.find(7), 0U);
}

TEST(WatchTable, RefusesMoreThanThreeQuarters) {
  static Table<64> table;
  for (std::uint64_t key = 2; key < 2 + 48; ++key) EXPECT_TRUE(table.insert(key, key)) << key;
  EXPECT_FALSE(table.insert(1000, 1));
  for (std::uint64_t key = 2; key < 2 + 48; ++key) EXPECT_EQ(table.find(key), key);
}

// Registration caches register millions of times: removed slots must not fill the table.
TEST(WatchTable, TakesAnyNumberOfKeysOneAfterTheOther) {
  static Table<64> table;
  ASSERT_TRUE(table.insert(5, 50));
  for (std::uint64_t key = 100; key < 100'100; ++key) {
    ASSERT_TRUE(table.insert(key, key));
    ASSERT_EQ(table.find(key), key);
    ASSERT_EQ(table.remove(key), key);
  }
  EXPECT_EQ(table.find(5), 50U);
  EXPECT_EQ(table.find(100), 0U);
}

TEST(WatchTable, NeverMissesAKeyThatStaysWhileOthersComeAndGo) {
  static Table<64> table;
  for (std::uint64_t key = 2; key < 18; ++key) ASSERT_TRUE(table.insert(key, key));
  std::atomic<bool> stop{false};
  std::thread other([&] {
    for (std::uint64_t key = 100; !stop; ++key) {
      table.insert(key, key);
      table.insert(key + 1'000'000, key);
      table.remove(key);
      table.remove(key + 1'000'000);
    }
  });
  int missed = 0;
  for (int round = 0; round < 20'000; ++round) {
    for (std::uint64_t key = 2; key < 18; ++key) missed += table.find(key) == key ? 0 : 1;
  }
  stop = true;
  other.join();
  EXPECT_EQ(missed, 0);
}

}  // namespace
}  // namespace gdr::watch
