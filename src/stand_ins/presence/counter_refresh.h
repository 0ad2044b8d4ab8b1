// The files of counters in the prepared tree, made anew when a program opens one: it reads what the
// port has counted until then.
//
//   refresh_counter("/tmp/gdrkit-0/devices/sys/class/infiniband/soft0/ports/1/counters/symbol_error",
//                   "/tmp/gdrkit-0/ports-4026531840");
//
// In any thread and signal handler, also between fork() and exec(): by system calls of its own.
#pragma once

#include <string_view>

namespace gdr::presence {

// Does nothing for every other path. `ports`: see ports/port_folder.h; empty: there are none.
void refresh_counter(const char* path, const char* ports);

// The same for a path from an open folder on (AT_FDCWD: the current one), if that folder lies below
// `root`. Cheap for every name that no counter has.
void refresh_relative(int folder, const char* path, std::string_view root, const char* ports);

}  // namespace gdr::presence
