#include "memory/fault_guard.h"

#include <csignal>
#include <cstdint>
#include <mutex>

#include "memory/host_pages.h"

namespace gdr::memory {
namespace fault_guard {

constinit thread_local sigjmp_buf* landing = nullptr;

}  // namespace fault_guard

namespace {

using fault_guard::landing;

// What the program had for each signal. Written once, before the handler that reads them is there.
struct Before {
  int signal;
  struct sigaction action;
};
constinit Before before_of[] = {{SIGSEGV, {}}, {SIGBUS, {}}};

// As if this handler were not there.
void pass_on(int signal, siginfo_t* info, void* context) {
  Before& before = before_of[signal == SIGBUS];
  struct sigaction& action = before.action;
  const bool is_default = (action.sa_flags & SA_SIGINFO) == 0 && action.sa_handler == SIG_DFL;
  const bool is_ignored = (action.sa_flags & SA_SIGINFO) == 0 && action.sa_handler == SIG_IGN;
  const bool is_sent = info->si_code <= 0;  // by a process; the kernel's own cannot be ignored
  if (is_ignored && is_sent) return;
  if (is_default || is_ignored) {
    // The instruction that faulted does so again, with nobody to catch it: the core file shows it.
    sigaction(signal, &action, nullptr);
    if (is_sent) (void)raise(signal);
    return;
  }
  const struct sigaction now = action;
  if ((now.sa_flags & SA_RESETHAND) != 0) {
    action.sa_flags &= ~SA_SIGINFO;
    action.sa_handler = SIG_DFL;
  }
  if ((now.sa_flags & SA_SIGINFO) != 0) return now.sa_sigaction(signal, info, context);
  now.sa_handler(signal);
}

void on_fault(int signal, siginfo_t* info, void* context) {
  sigjmp_buf* const to = landing;
  if (to == nullptr || info->si_code <= 0) return pass_on(signal, info, context);
  landing = nullptr;
  // As at the end of a handler: what was let through before is let through again.
  (void)pthread_sigmask(SIG_SETMASK, &static_cast<ucontext_t*>(context)->uc_sigmask, nullptr);
  siglongjmp(*to, 1);  // NOLINT(cert-err52-cpp)
}

}  // namespace

// With the mask and the flags of the program's own handler, which it may count on.
void catch_faults() {
  static std::once_flag once;
  std::call_once(once, [] {
    for (Before& before : before_of) {
      if (sigaction(before.signal, nullptr, &before.action) != 0) continue;
      struct sigaction own = before.action;
      own.sa_sigaction = on_fault;
      own.sa_flags = (own.sa_flags | SA_SIGINFO) & ~SA_RESETHAND;
      (void)sigaction(before.signal, &own, nullptr);
    }
  });
}

bool is_there(const void* bytes, std::size_t length) {
  if (length == 0) return true;
  const auto first = reinterpret_cast<std::uint64_t>(bytes);
  const std::uint64_t last = first + length - 1;
  return without_fault([&] {
    for (std::uint64_t at = first;; at = (at | (kPage - 1)) + 1) {
      (void)*reinterpret_cast<const volatile std::byte*>(at);
      if ((at | (kPage - 1)) >= last) return;
    }
  });
}

}  // namespace gdr::memory
