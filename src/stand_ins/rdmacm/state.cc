#include "rdmacm/state.h"

#include <pthread.h>

#include <cerrno>
#include <chrono>
#include <ctime>
#include <new>

#include "rsockets/descriptor_table.h"

namespace gdr::rdmacm {
namespace {

// Never destroyed: threads of the library and of the program outlive exit handlers.
alignas(Library) unsigned char storage[sizeof(Library)];
Library* instance = nullptr;
bool is_ready_for_forks = false;  // under the lock

void before_fork() { instance->lock.lock(); }
void after_fork_in_parent() { instance->lock.unlock(); }
// The child has neither our threads nor queue pair 1: it begins anew, and what it inherited can be
// destroyed only.
void after_fork_in_child() {
  Library* inherited = instance;
  instance = new Library;
  for (Id* id : inherited->ids) {
    id->link.reset();
    id->listening_on.clear();
    id->unacknowledged = 0;
    instance->ids.insert(id);
  }
  instance->taken = inherited->taken;
}

// Before a device has been opened there is nothing to inherit but a lock that another thread holds.
void after_early_fork_in_child() {
  if (!is_ready_for_forks) instance = new Library;
}

void begin() {
  instance = new (storage) Library;
  pthread_atfork(nullptr, nullptr, after_early_fork_in_child);
}

// What is still on its way on rsockets arrives, unless a peer does not take it.
constexpr std::chrono::seconds kLongestEnd{5};

// Threads may still hold the lock, or wait for ever: the program's end waits for none of them.
__attribute__((destructor)) void end() {
  if (instance == nullptr) return;
  rsockets::close_all(kLongestEnd);
  const std::unique_lock guard(instance->lock, std::try_to_lock);
  if (guard) abandon_all(*instance);
}

}  // namespace

Library& library() {
  static pthread_once_t once = PTHREAD_ONCE_INIT;
  pthread_once(&once, begin);
  return *instance;
}

void get_ready_for_forks() {
  if (is_ready_for_forks) return;
  pthread_atfork(before_fork, after_fork_in_parent, after_fork_in_child);
  is_ready_for_forks = true;
}

int fail(int error) {
  if (error == 0) return 0;
  errno = error;
  return -1;
}

int enter(Library& l, const rdma_cm_id* id) {
  auto* mine = const_cast<Id*>(reinterpret_cast<const Id*>(id));
  if (id == nullptr || !l.ids.contains(mine)) return EINVAL;
  return id->channel == nullptr ? EBADF : 0;
}

bool is_id(const rdma_cm_id* id) {
  Library& l = library();
  const Guard guard(l.lock);
  return enter(l, id) != EINVAL;
}

cm::Time now() {
  timespec t{};
  clock_gettime(CLOCK_MONOTONIC, &t);
  return static_cast<cm::Time>(t.tv_sec) * 1'000'000'000 + static_cast<cm::Time>(t.tv_nsec);
}

}  // namespace gdr::rdmacm
