#include "peers/activity.h"

#include <dirent.h>
#include <unistd.h>

#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <memory>
#include <optional>

#include "peers/task_stat.h"

namespace gdr::peers {
namespace {

Nanoseconds since(const std::atomic<Nanoseconds>& start) {
  const Nanoseconds began = start.load();
  return began == 0 ? 0 : now() - began;
}

void keep_start(std::atomic<Nanoseconds>& start, bool lasts, Nanoseconds time) {
  Nanoseconds never = 0;
  if (!lasts) {
    start.store(0);
  } else {
    start.compare_exchange_strong(never, time);
  }
}

}  // namespace

Activity activity_of(int proc_pid, int except) {
  char path[320];
  std::snprintf(path, sizeof path, "/proc/%d/task", proc_pid);
  const std::unique_ptr<DIR, int (*)(DIR*)> tasks(opendir(path), &closedir);
  if (tasks == nullptr) return Activity::kRuns;
  Activity found = Activity::kStopped;
  while (const dirent* task = readdir(tasks.get())) {
    if (task->d_name[0] == '.' || (except != 0 && std::atoi(task->d_name) == except)) continue;
    std::snprintf(path, sizeof path, "/proc/%d/task/%s/stat", proc_pid, task->d_name);
    const std::optional<TaskStat> stat = read_task_stat(path);
    if (!stat || std::strchr("TtZX", stat->state) != nullptr) continue;
    if (std::strchr("SI", stat->state) == nullptr) return Activity::kRuns;
    found = Activity::kIdle;
  }
  return found;
}

Activity ActivityWatch::look() {
  const Nanoseconds time = now();
  if (time - looked_at_.load() < kMillisecond) return found_.load();
  looked_at_.store(time);
  const Activity found = activity_of(proc_pid_, proc_pid_ == getpid() ? gettid() : 0);
  found_.store(found);
  keep_start(idle_since_, found != Activity::kRuns, time);
  keep_start(stopped_since_, found == Activity::kStopped, time);
  return found;
}

bool ActivityWatch::is_stopped_now() {
  looked_at_.store(0);
  return is_stopped();
}

Nanoseconds ActivityWatch::idle_for() const { return since(idle_since_); }
Nanoseconds ActivityWatch::stopped_for() const { return since(stopped_since_); }

}  // namespace gdr::peers
