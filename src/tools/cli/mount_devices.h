// Mounts the files of the software NIC's devices over this machine's, in a mount namespace that
// only this process and what it starts have.
//
//   Result<void> mounted = mount_devices([](const std::string& folder) { return write(folder); });
//
// The machine itself is not changed: neither /sys nor /dev gets an entry that others could see.
#pragma once

#include <functional>
#include <string>

#include "base/result.h"

namespace gdr::cli {

// `write` puts sys/class/... and dev/infiniband/... below the folder it is given. An ordinary user
// gets a user namespace, too. After an error this process may be in namespaces of its own.
Result<void> mount_devices(const std::function<Result<void>(const std::string& folder)>& write);

}  // namespace gdr::cli
