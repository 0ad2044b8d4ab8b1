// One thread waits for the earliest deadline of all connections. It starts with the first one and
// lives as long as the process.
#include <chrono>

#include "base/quiet_thread.h"
#include "rdmacm/state.h"

namespace gdr::rdmacm {
namespace {

void run(Library* l) {
  Guard guard(l->lock);
  for (;;) {
    if (l->deadlines.empty()) {
      l->timers_changed.wait(guard);
      continue;
    }
    const auto [time, id] = *l->deadlines.begin();
    const cm::Time present = now();
    if (time > present) {
      l->timers_changed.wait_for(guard, std::chrono::nanoseconds(time - present));
      continue;
    }
    const auto found = l->links.find(id);
    if (found == l->links.end()) {
      l->deadlines.erase(l->deadlines.begin());
      continue;
    }
    const std::shared_ptr<Link> link = found->second;
    link->connection.expire(present);
    advance(*l, link);
  }
}

}  // namespace

void schedule(Library& l, Link& link) {
  const std::uint32_t id = link.connection.local_id();
  const auto deadline = link.connection.deadline();
  if (link.scheduled == deadline) return;
  if (link.scheduled) l.deadlines.erase({*link.scheduled, id});
  link.scheduled = deadline;
  if (!deadline) return;
  l.deadlines.insert({*deadline, id});
  if (!l.timer_thread) {
    if (!start_quiet_thread("gdr-cm-timers", [&l] { run(&l); })) {
      return;  // tried again at the next deadline
    }
    l.timer_thread = true;
  }
  if (l.deadlines.begin()->second == id) l.timers_changed.notify_one();
}

}  // namespace gdr::rdmacm
