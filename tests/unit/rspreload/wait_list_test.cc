#include "rspreload/wait_list.h"

#include <gtest/gtest.h>
#include <unistd.h>

#include <vector>

namespace gdr::rspreload {
namespace {

// As select() comes to it where the only rsocket has been closed by another thread: more
// descriptors than have room on the stack, and none of them an rsocket by now.
TEST(WaitList, WaitsForManyDescriptorsThatAreNoRsocketsAnyMore) {
  int ends[2];
  ASSERT_EQ(pipe(ends), 0);
  ASSERT_EQ(write(ends[1], "", 1), 1);
  std::vector<pollfd> all(1000, {ends[1], POLLIN, 0});
  all[70] = all.back() = {ends[0], POLLIN, 0};
  WaitList list(all.data(), all.size());
  EXPECT_FALSE(list.is_ours());
  EXPECT_EQ(list.wait(0), 2);
  EXPECT_EQ(all[70].revents, POLLIN);
  EXPECT_EQ(all[71].revents, 0);
  EXPECT_EQ(all.back().revents, POLLIN);
  close(ends[0]);
  close(ends[1]);
}

}  // namespace
}  // namespace gdr::rspreload
