#include "net/local_addresses.h"

#include <algorithm>
#include <cstdio>
#include <cstring>
#include <memory>
#include <optional>
#include <utility>
#include <vector>

#include "net/interface.h"

namespace gdr::net {
namespace {

constexpr Nanoseconds kKept = kSecond;

struct Close {
  void operator()(std::FILE* file) const { std::fclose(file); }
};

bool is_any(const wire::Address& address) {
  wire::Address any{};
  if (wire::is_ipv4(address)) any[10] = any[11] = 0xff;
  return address == any;
}

// As /proc/net/udp and udp6 write it: words as this processor stores them.
bool read_address(const char* digits, bool ipv4, wire::Address& address) {
  const int words = ipv4 ? 1 : 4;
  if (std::strlen(digits) != static_cast<std::size_t>(words) * 8) return false;
  address = {};
  if (ipv4) address[10] = address[11] = 0xff;
  for (int i = 0; i < words; ++i) {
    std::uint32_t word = 0;
    if (std::sscanf(digits + i * 8, "%8x", &word) != 1) return false;
    std::memcpy(address.data() + (ipv4 ? 12 : i * 4), &word, sizeof word);
  }
  return true;
}

// One reading of /proc/net/udp or udp6.
struct SocketTable {
  bool lists_port = false;
  std::vector<std::uint64_t> sockets;  // all of them, sorted, unless it lists the port
};

// Nothing: there is no such file.
std::optional<SocketTable> read_table(const char* path, bool ipv4, const wire::Address& address) {
  const std::unique_ptr<std::FILE, Close> file(std::fopen(path, "re"));
  if (file == nullptr) return std::nullopt;
  SocketTable table;
  char line[512], digits[40];
  while (std::fgets(line, sizeof line, file.get()) != nullptr) {
    unsigned port = 0;
    unsigned long inode = 0;
    const int read = std::sscanf(line, " %*u: %39[0-9A-Fa-f]:%x %*s %*s %*s %*s %*s %*s %*s %lu",
                                 digits, &port, &inode);
    if (read != 3) continue;
    table.sockets.push_back(inode);
    wire::Address own;
    if (port != wire::kRocePort || !read_address(digits, ipv4, own)) continue;
    table.lists_port = own == address || is_any(own);
    if (table.lists_port) return table;
  }
  std::ranges::sort(table.sockets);
  return table;
}

// Nothing: there is no such file. The kernel shows its table a page at a time. Where one of the
// sockets that it has shown closes meanwhile, one that stays may be passed over: a reading is
// believed if all that it shows are there in the next.
std::optional<bool> lists_port(const char* path, bool ipv4, const wire::Address& address) {
  constexpr int kMostReadings = 16;
  std::vector<std::uint64_t> before;
  for (int i = 0; i < kMostReadings; ++i) {
    std::optional<SocketTable> table = read_table(path, ipv4, address);
    if (!table) return std::nullopt;
    if (table->lists_port) return true;
    if (i > 0 && std::ranges::includes(table->sockets, before)) return false;
    before = std::move(table->sockets);
  }
  return true;  // nobody knows
}

}  // namespace

bool LocalAddresses::contains(const wire::Address& address) {
  const Nanoseconds time = now();
  {
    const std::lock_guard guard(mutex_);
    const auto kept = kept_.find(address);
    if (kept != kept_.end() && time - kept->second.at < kKept) return kept->second.is_local;
  }
  const bool is_local = find_interface(address).has_value();
  const std::lock_guard guard(mutex_);
  if (kept_.size() == kMostKept) kept_.clear();
  kept_[address] = {is_local, time};
  return is_local;
}

// A socket of IPv6 that is bound to no address may take IPv4, too.
bool somebody_has_roce_port(const wire::Address& address) {
  const bool by_ipv4 = wire::is_ipv4(address) &&
                       lists_port("/proc/thread-self/net/udp", true, address).value_or(true);
  return by_ipv4 || lists_port("/proc/thread-self/net/udp6", false, address).value_or(false);
}

}  // namespace gdr::net
