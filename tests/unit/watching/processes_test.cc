#include "watching/processes.h"

#include <gtest/gtest.h>
#include <unistd.h>

#include "ledger/ledger.h"
#include "watching/ports.h"

namespace gdr::watching {
namespace {

TEST(WatchProcesses, RecognisesLibrariesByTheirFiles) {
  EXPECT_EQ(libraries_in("7f r-xp 0 00:00 1 /usr/lib/libibverbs.so.1.14.44.0\n"), ledger::kVerbs);
  EXPECT_EQ(libraries_in("/usr/lib/ucx/libuct_ib.so.0.0.0\n/usr/lib/libuct.so.0\n"),
            ledger::kUcx | ledger::kUcxIb);
  EXPECT_EQ(libraries_in("/opt/gdrkit/soft-nic/libibverbs.so.1\n") & ledger::kSoftNic,
            ledger::kSoftNic);
  EXPECT_EQ(libraries_in("/usr/lib/libc.so.6\n"), 0U);
}

TEST(WatchProcesses, SeesThisProcess) {
  Processes seen(getpid());
  seen.look();
  ASSERT_TRUE(seen.seen().contains(getpid()));
  EXPECT_TRUE(seen.seen().at(getpid()).readable);
  EXPECT_FALSE(seen.seen().at(getpid()).watched);
}

TEST(WatchProcesses, AProcessThatIsGoneIsNoError) {
  Processes seen(1 << 30);
  seen.look();
  EXPECT_FALSE(seen.seen().at(1 << 30).readable);
}

TEST(WatchPorts, CountWhatMovedSinceTheBeginning) {
  const PortCounts moved = difference({{"a", {100, 50}}, {"b", {100, 0}}, {"gone", {1, 1}}},
                                      {{"a", {160, 50}}, {"b", {30, 0}}, {"new", {9, 9}}});
  EXPECT_EQ(moved.size(), 2U);
  EXPECT_EQ(moved.at("a").out, 60U);
  EXPECT_EQ(moved.at("a").in, 0U);
  EXPECT_EQ(moved.at("b").out, 30U);  // reset meanwhile
}

}  // namespace
}  // namespace gdr::watching
