#include "base/out_of_the_way.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/resource.h>
#include <unistd.h>

#include <vector>

namespace gdr {
namespace {

int open_one() { return open("/dev/null", O_RDONLY | O_CLOEXEC); }

bool set_limit(rlim_t soft, rlim_t hard) {
  const rlimit limit{soft, hard};
  return setrlimit(RLIMIT_NOFILE, &limit) == 0;
}

// How many more a program may open, up to a hundred.
int count_left() {
  std::vector<UniqueFd> all;
  while (all.size() < 100 && all.emplace_back(UniqueFd(open_one()))) {
  }
  int low = 0;
  for (const UniqueFd& one : all) low += one && one.get() < 64 ? 1 : 0;
  return low;
}

// The limit is raised once in a process, so each test has one of its own.
[[noreturn]] void keep_many_out_of_the_way() {
  if (!set_limit(64, 1024)) _exit(1);
  const int before = count_left();
  std::vector<UniqueFd> ours;
  for (int i = 0; i < 500; ++i) {
    ours.push_back(out_of_the_way(UniqueFd(open_one())));
    if (ours.back().get() < 64 || fcntl(ours.back().get(), F_GETFD) != FD_CLOEXEC) _exit(2);
  }
  _exit(count_left() == before ? 0 : 3);
}

[[noreturn]] void have_no_room() {
  if (!set_limit(64, 64)) _exit(1);
  UniqueFd made(open_one());
  const int number = made.get();
  const UniqueFd kept = out_of_the_way(std::move(made));
  _exit(kept.get() == number && fcntl(number, F_GETFD) >= 0 ? 0 : 2);
}

TEST(OutOfTheWay, LeavesAProgramAllDescriptorsThatItMayHave) {
  EXPECT_EXIT(keep_many_out_of_the_way(), testing::ExitedWithCode(0), "");
}

TEST(OutOfTheWay, KeepsADescriptorWhereTheHardLimitLeavesNoRoom) {
  EXPECT_EXIT(have_no_room(), testing::ExitedWithCode(0), "");
}

TEST(OutOfTheWay, MakesNoneOfNone) { EXPECT_FALSE(out_of_the_way(UniqueFd())); }

}  // namespace
}  // namespace gdr
