// Another account, for tests that root runs.
#pragma once

#include <grp.h>
#include <sys/prctl.h>
#include <unistd.h>

#include <csignal>

#include "process.h"

namespace gdr::test {

// Like a program that this user has started: a process that was root is guarded by the kernel from
// its own user as well.
inline void become(uid_t user) {
  require(setgroups(0, nullptr) == 0 && setresgid(user, user, user) == 0 &&
              setresuid(user, user, user) == 0,
          "another user");
  require(prctl(PR_SET_DUMPABLE, 1) == 0, "a process like others");
  prctl(PR_SET_PDEATHSIG, SIGKILL);  // changing the user forgot it
}

}  // namespace gdr::test
