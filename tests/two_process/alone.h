// AloneTest: on a host of its own, as far as the software NIC can see. Other processes of this
// user come and go, and are met: what a test counts must not count them.
#pragma once

#include <gtest/gtest.h>
#include <sched.h>

#include <cerrno>
#include <cstring>

namespace gdr::test {

class AloneTest : public testing::Test {
 protected:
  void SetUp() override {
    if (unshare(CLONE_NEWNET) != 0 && unshare(CLONE_NEWUSER | CLONE_NEWNET) != 0) {
      GTEST_SKIP() << "no network namespace can be had here: " << std::strerror(errno);
    }
  }
};

}  // namespace gdr::test
