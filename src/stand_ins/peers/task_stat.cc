#include "peers/task_stat.h"

#include <fcntl.h>
#include <unistd.h>

#include <cstdio>
#include <cstring>

#include "base/unique_fd.h"

namespace gdr::peers {

std::optional<TaskStat> read_task_stat(const char* path) {
  const UniqueFd file(open(path, O_RDONLY | O_CLOEXEC));
  char text[512];
  const ssize_t got = file ? read(file.get(), text, sizeof text - 1) : -1;
  if (got <= 0) return std::nullopt;
  text[got] = 0;
  // Behind the name, which may hold anything: state, ppid, pgrp, session, tty, tpgid, flags.
  const char* rest = std::strrchr(text, ')');
  TaskStat stat;
  if (rest == nullptr ||
      std::sscanf(rest + 1, " %c %*d %*d %*d %*d %*d %lu", &stat.state, &stat.flags) != 2) {
    return std::nullopt;
  }
  return stat;
}

}  // namespace gdr::peers
