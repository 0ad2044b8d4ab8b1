#include "base/quiet_thread.h"

#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <cstdint>
#include <cstring>
#include <memory>
#include <new>

namespace gdr {
namespace {

thread_local bool is_quiet = false;

struct Start {
  const char* name;
  std::function<void()> work;
};

// The kernel's number; Debian 12's C library has no name for it.
struct SchedulerAttributes {
  std::uint32_t size, policy;
  std::uint64_t flags;
  std::int32_t nice;
  std::uint32_t priority;
  std::uint64_t runtime, deadline, period;
};
constexpr std::uint64_t kShortSlice = 100'000;  // nanoseconds: the least that there is

// A thread that is woken has something to do at once, and not for long: with a short slice it gets
// the core from a program that spins (Linux 6.12 and later; others ignore it).
void ask_for_short_slices() {
  SchedulerAttributes attributes{};
  if (syscall(SYS_sched_getattr, 0, &attributes, sizeof attributes, 0) != 0 ||
      attributes.policy != SCHED_OTHER) {
    return;
  }
  attributes.runtime = kShortSlice;
  syscall(SYS_sched_setattr, 0, &attributes, 0);
}

void* run(void* argument) {
  const std::unique_ptr<Start> start(static_cast<Start*>(argument));
  is_quiet = true;
  pthread_setname_np(pthread_self(), start->name);
  ask_for_short_slices();
  prctl(PR_SET_TIMERSLACK, 1UL);  // its short sleeps are meant so
  start->work();
  return nullptr;
}

int create(Start* start) {
  pthread_attr_t attributes;
  if (const int error = pthread_attr_init(&attributes)) return error;
  pthread_attr_setdetachstate(&attributes, PTHREAD_CREATE_DETACHED);
  // Inherited by the thread. What it does wrong itself must still end the process at that place.
  sigset_t all, before;
  sigfillset(&all);
  for (const int fault : {SIGSEGV, SIGBUS, SIGILL, SIGFPE}) sigdelset(&all, fault);
  pthread_sigmask(SIG_SETMASK, &all, &before);
  pthread_t thread;
  const int error = pthread_create(&thread, &attributes, run, start);
  pthread_sigmask(SIG_SETMASK, &before, nullptr);
  pthread_attr_destroy(&attributes);
  return error;
}

}  // namespace

Result<void> start_quiet_thread(const char* name, std::function<void()> work) {
  std::unique_ptr<Start> start(new (std::nothrow) Start{name, std::move(work)});
  const int error = start == nullptr ? ENOMEM : create(start.get());
  if (error != 0) {
    return Error{error, "the thread " + std::string(name) + " cannot be started: " +
                            std::strerror(error) + "; raise the limit on processes (ulimit -u)"};
  }
  (void)start.release();  // the thread's now
  return {};
}

bool is_quiet_thread() { return is_quiet; }

}  // namespace gdr
