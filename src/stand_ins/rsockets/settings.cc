#include "rsockets/settings.h"

#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <charconv>
#include <string_view>

#include "base/unique_fd.h"
#include "rsockets/protocol.h"

namespace gdr::rsockets {
namespace {

// The number at the beginning of the file, as fscanf("%u") would read it.
void read_number(const std::string& path, std::uint32_t least, std::uint32_t most,
                 std::uint32_t& into) {
  const UniqueFd file(open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK));
  if (!file) return;
  char text[64];
  const ssize_t length = read(file.get(), text, sizeof text);
  if (length <= 0) return;
  std::string_view line(text, static_cast<std::size_t>(length));
  line.remove_prefix(std::min(line.find_first_not_of(" \t\r\n"), line.size()));
  std::uint64_t number = 0;
  const auto [end, error] = std::from_chars(line.data(), line.data() + line.size(), number);
  if (end == line.data()) return;
  if (error != std::errc()) number = most;
  into = static_cast<std::uint32_t>(std::clamp<std::uint64_t>(number, least, most));
}

}  // namespace

Settings read_settings(const std::string& folder) {
  Settings read;
  read_number(folder + "/mem_default", 2, kLargestBuffer, read.receive_bytes);
  read_number(folder + "/wmem_default", 2 * kSmallestSendBytes, kLargestBuffer, read.send_bytes);
  read_number(folder + "/sqsize_default", kSmallestQueue, kLargestQueue, read.send_queue);
  read_number(folder + "/rqsize_default", kSmallestQueue, kLargestQueue, read.receive_queue);
  read_number(folder + "/inline_default", 0, 0xFFFF, read.inline_bytes);
  read_number(folder + "/iomap_size", 0, mappings_from_byte(255), read.mappings);
  read.mappings = mappings_from_byte(mappings_to_byte(read.mappings));
  read_number(folder + "/polling_time", 0, 1'000'000, read.polling_us);
  read_number(folder + "/wake_up_interval", 1, 3'600'000, read.wake_up_ms);
  return read;
}

const Settings& settings() {
  static const Settings read = read_settings("/etc/rdma/rsocket");
  return read;
}

}  // namespace gdr::rsockets
