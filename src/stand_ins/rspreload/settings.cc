#include "rspreload/settings.h"

#include <fcntl.h>

#include <cstdlib>
#include <string_view>

#include "rspreload/real.h"

namespace gdr::rspreload {
namespace {

constexpr const char* kConfigFile = "/etc/rdma/rsocket/preload_config";

// As atoi() reads it; what is no number is 0.
int number(const char* name) {
  const char* text = std::getenv(name);
  if (text == nullptr) return 0;
  const long value = std::strtol(text, nullptr, 10);
  return value < 0 || value > 1'000'000 ? 0 : static_cast<int>(value);
}

void read_config(Config& config) {
  const char* file = std::getenv("GDR_RSPRELOAD_CONFIG");
  // Not blocked by a pipe of that name.
  const int fd = open(file != nullptr ? file : kConfigFile, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
  if (fd < 0) return;
  static char text[64 << 10];
  std::size_t length = 0;
  while (length < sizeof text) {
    const ssize_t count = real().read(fd, text + length, sizeof text - length);
    if (count <= 0) break;
    length += static_cast<std::size_t>(count);
  }
  real().close(fd);
  config.read({text, length});
}

Settings make() {
  Settings made{};
  read_config(made.config);
  made.send_queue = number("RS_SQ_SIZE");
  made.receive_queue = number("RS_RQ_SIZE");
  made.inline_bytes = number("RS_INLINE");
  made.connects_in_child = number("RDMAV_FORK_SAFE") != 0;
  return made;
}

}  // namespace

const Settings& settings() {
  static const Settings read = make();
  return read;
}

}  // namespace gdr::rspreload
