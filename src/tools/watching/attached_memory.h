// Whether a process has mapped memory that another one made for UCX: its way of talking within a
// host. UCX maps its own such memory whether it uses it or not, so who made a segment decides.
//
//   if (has_attached(maps, pid, "/proc")) ...   // maps: what /proc/PID/maps says
#pragma once

#include <sys/types.h>

#include <string>

namespace gdr::watching {

bool has_attached(const std::string& maps, pid_t pid, const std::string& proc);

}  // namespace gdr::watching
