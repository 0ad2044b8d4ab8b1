#include "base/quiet_thread.h"

#include <pthread.h>
#include <signal.h>

#include <cstring>
#include <memory>
#include <new>

namespace gdr {
namespace {

struct Start {
  const char* name;
  std::function<void()> work;
};

void* run(void* argument) {
  const std::unique_ptr<Start> start(static_cast<Start*>(argument));
  pthread_setname_np(pthread_self(), start->name);
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

}  // namespace gdr
