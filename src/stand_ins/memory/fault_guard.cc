#include "memory/fault_guard.h"

#include <ucontext.h>

#include <csignal>
#include <cstdint>
#include <cstring>
#include <mutex>

#include "memory/guarded_code.h"
#include "memory/host_pages.h"

// glibc's own. Older releases of UCX have a sigaction() that says yes to a handler of these signals
// and leaves theirs in place.
extern "C" int __sigaction(int, const struct sigaction*, struct sigaction*) noexcept;

namespace gdr::memory {
namespace fault_guard {

constinit thread_local sigjmp_buf* landing = nullptr;

}  // namespace fault_guard

namespace {

using fault_guard::landing;

constexpr int kOneTime = static_cast<int>(SA_RESETHAND);

// The action that the program had for each signal.
struct Before {
  int signal;
  struct sigaction action;
};
constinit Before before_of[] = {{SIGSEGV, {}}, {SIGBUS, {}}};

bool has_handler(const struct sigaction& action) {
  return (action.sa_flags & SA_SIGINFO) != 0 ||
         (action.sa_handler != SIG_DFL && action.sa_handler != SIG_IGN);
}

// By a process, or by the kernel of a page that no instruction waits for.
bool is_sent(int signal, const siginfo_t& info) {
  return info.si_code <= 0 || (signal == SIGBUS && info.si_code == BUS_MCEERR_AO);
}

// As if this handler were not there.
void pass_on(int signal, siginfo_t* info, void* context) {
  struct sigaction& action = before_of[signal == SIGBUS].action;
  if (!has_handler(action)) {
    const bool sent = is_sent(signal, *info);
    if (sent && action.sa_handler == SIG_IGN) return;
    // An instruction that faulted does so again, with nobody to catch it: the core file shows it.
    (void)__sigaction(signal, &action, nullptr);
    if (sent) (void)raise(signal);
    return;
  }
  const struct sigaction present = action;
  if ((present.sa_flags & kOneTime) != 0) {
    action.sa_flags &= ~SA_SIGINFO;
    action.sa_handler = SIG_DFL;
  }
  if ((present.sa_flags & SA_SIGINFO) != 0) return present.sa_sigaction(signal, info, context);
  present.sa_handler(signal);
}

// Whether the program's own handler has no part in it: it may mend pages that it has protected.
bool is_about_missing_memory(int signal, const siginfo_t& info) {
  if (is_sent(signal, info)) return false;
  const bool may_mend = signal == SIGSEGV && info.si_code == SEGV_ACCERR;
  return !may_mend || !has_handler(before_of[0].action);
}

[[noreturn]] void land() {
  sigjmp_buf* const to = landing;
  landing = nullptr;
  siglongjmp(*to, 1);  // NOLINT(cert-err52-cpp)
}

// The thread lands once the handler has returned, so that the kernel restores what it had changed
// for it: the signal mask, how floating-point numbers are rounded, the alternate stack.
void land_after(void* context) {
#if defined(__x86_64__)
  constexpr greg_t kRedZone = 128, kStackUnit = 16, kReturnAddress = 8, kDirectionFlag = 1 << 10;
  greg_t* const registers = static_cast<ucontext_t*>(context)->uc_mcontext.gregs;
  registers[REG_RIP] = reinterpret_cast<greg_t>(&land);
  registers[REG_RSP] = ((registers[REG_RSP] - kRedZone) & -kStackUnit) - kReturnAddress;
  registers[REG_EFL] &= ~kDirectionFlag;
#else
  (void)pthread_sigmask(SIG_SETMASK, &static_cast<ucontext_t*>(context)->uc_sigmask, nullptr);
  land();
#endif
}

void on_fault(int signal, siginfo_t* info, void* context) {
  if (is_about_missing_memory(signal, *info)) {
    if (leave_guarded_code(context)) return;
    if (landing != nullptr) return land_after(context);
  }
  pass_on(signal, info, context);
}

// With the mask and the flags of the program's own handler, which it may count on.
void put_before(Before& before) {
  if (__sigaction(before.signal, nullptr, &before.action) != 0) return;
  struct sigaction own = before.action;
  own.sa_sigaction = on_fault;
  own.sa_flags = (own.sa_flags | SA_SIGINFO) & ~kOneTime;
  (void)__sigaction(before.signal, &own, nullptr);
}

}  // namespace

void catch_faults() {
  static std::once_flag once;
  std::call_once(once, [] {
    for (Before& before : before_of) put_before(before);
  });
}

#if GDR_HAS_GUARDED_CODE

bool copy_if_there(void* to, const void* from, std::size_t bytes) {
  return gdr_guarded_copy(to, from, bytes);
}

bool is_there(const void* bytes, std::size_t length) {
  return length == 0 || gdr_guarded_look(bytes, static_cast<const char*>(bytes) + length - 1);
}

#else

bool copy_if_there(void* to, const void* from, std::size_t bytes) {
  return without_fault([=] { std::memcpy(to, from, bytes); });
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

#endif

}  // namespace gdr::memory
