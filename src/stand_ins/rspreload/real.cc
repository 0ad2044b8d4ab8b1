#include "rspreload/real.h"

#include <dlfcn.h>

#include <atomic>

namespace gdr::rspreload {
namespace {

RealCalls calls;
std::atomic<bool> are_known{false};

template <typename Function>
void look_up(Function& into, const char* name) {
  into = reinterpret_cast<Function>(dlsym(RTLD_NEXT, name));
}

}  // namespace

// Other libraries' constructors may call before ours would run. Two threads may look up at a time:
// both find the same.
const RealCalls& real() {
  if (are_known.load(std::memory_order_acquire)) return calls;
#define GDR_LOOK_UP(name) look_up(calls.name, #name);
  GDR_REAL_CALLS(GDR_LOOK_UP)
#undef GDR_LOOK_UP
  look_up(calls.close_range, "close_range");
  look_up(calls.closefrom, "closefrom");
  look_up(calls.epoll_pwait2, "epoll_pwait2");
  are_known.store(true, std::memory_order_release);
  return calls;
}

}  // namespace gdr::rspreload
