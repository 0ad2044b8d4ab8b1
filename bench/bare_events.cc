#include "bare_events.h"

#include <sys/eventfd.h>
#include <unistd.h>

#include <cerrno>
#include <cstdint>
#include <cstring>

#include "give_up.h"

namespace gdr::bench {
namespace {

void wake(int descriptor) {
  const std::uint64_t one = 1;
  if (write(descriptor, &one, sizeof one) != sizeof one) {
    give_up("writing to an eventfd: {}", std::strerror(errno));
  }
}

void sleep_until_woken(int descriptor) {
  std::uint64_t count = 0;
  if (read(descriptor, &count, sizeof count) != sizeof count) {
    give_up("reading from an eventfd: {}", std::strerror(errno));
  }
}

}  // namespace

BareEvents::BareEvents() {
  for (int& number : numbers_) {
    number = eventfd(0, 0);
    if (number < 0) give_up("eventfd: {}", std::strerror(errno));
  }
}

void BareEvents::ping(int count) const {
  for (int i = 0; i < count; ++i) {
    wake(numbers_[0]);
    sleep_until_woken(numbers_[1]);
  }
}

void BareEvents::pong(int count) const {
  for (int i = 0; i < count; ++i) {
    sleep_until_woken(numbers_[0]);
    wake(numbers_[1]);
  }
}

}  // namespace gdr::bench
