#include "base/kill_point.h"

#include <pthread.h>
#include <signal.h>
#include <unistd.h>

#include <atomic>
#include <cstdlib>
#include <string>

#include "base/environment.h"

namespace gdr {
namespace {

struct Appointment {
  std::string name;
  std::atomic<int> passages{0};

  explicit Appointment(const char* variable) {
    const std::string value = environment(variable).value_or("");
    const std::size_t colon = value.find(':');
    if (colon == std::string::npos) return;
    name = value.substr(0, colon);
    passages = std::atoi(value.c_str() + colon + 1);
  }
  [[nodiscard]] bool is_made() const { return !name.empty(); }
  bool is_here(const char* point) { return name == point && passages.fetch_sub(1) == 1; }
};

struct Appointments {
  Appointment death{"GDR_KILL"}, stop{"GDR_STOP"};
};

std::atomic<Appointments*> present{nullptr};

// Never destroyed: threads run until the process ends. A child of fork has its own.
Appointments& appointments() {
  Appointments* found = present.load(std::memory_order_acquire);
  if (found != nullptr) return *found;
  static const int registered = pthread_atfork(nullptr, nullptr, [] {
    present.store(nullptr);
    no_kill_points.store(false);
  });
  (void)registered;
  auto* own = new Appointments;
  if (present.compare_exchange_strong(found, own)) return *own;
  delete own;
  return *found;
}

}  // namespace

std::atomic<bool> no_kill_points{false};

void pass_kill_point(const char* name) {
  if (!appointments().death.is_made() && !appointments().stop.is_made()) no_kill_points.store(true);
  if (appointments().death.is_here(name)) kill(getpid(), SIGKILL);
  if (appointments().stop.is_here(name)) kill(getpid(), SIGSTOP);
}

}  // namespace gdr
