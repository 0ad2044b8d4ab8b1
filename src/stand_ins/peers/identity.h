// Identity: which process is at the other end of a connection, and what only a process that may
// debug it can know of it.
//
//   Result<Identity> caller = identify(connection);       // EACCES: of another account
//   Result<rnic::Secret> secret = secret_of(*caller, descriptor_it_told);
#pragma once

#include <optional>
#include <string_view>

#include "base/result.h"
#include "base/unique_fd.h"
#include "rnic/segment.h"

namespace gdr::peers {

struct Identity {
  int pid = 0;
  int proc_pid = 0;  // as this mount of /proc calls it, which may be another namespace's
  UniqueFd pidfd;
};

// EACCES: it is of another account, or of none that can be told from others here: the overflow
// account of a user namespace, a process namespace that cannot be seen from here. ESRCH: it is
// gone.
Result<Identity> identify(int connection);

// From the name of its segment. EACCES: the kernel does not let this process look at it, or that
// descriptor is no segment.
Result<rnic::Secret> secret_of(const Identity& process, int descriptor);

// Whether this user namespace knows its own account by a number that no other one has here.
bool tells_users_apart();

// Whether the process still holds on to its connections: a pid that was looked up before was its
// own then.
bool is_connected(int connection);

}  // namespace gdr::peers
