// What the kernel says of a process or a thread in /proc/.../stat. Any thread; cold.
#pragma once

#include <optional>

namespace gdr::peers {

struct TaskStat {
  char state = 0;  // a letter: see proc(5)
  unsigned long flags = 0;
};

// Nothing: it has ended, or the kernel does not show it.
std::optional<TaskStat> read_task_stat(const char* path);

}  // namespace gdr::peers
