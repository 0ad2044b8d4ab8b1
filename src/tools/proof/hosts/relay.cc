#include "proof/hosts/relay.h"

#include <poll.h>
#include <sys/socket.h>

#include <array>
#include <cerrno>
#include <cstddef>

namespace gdr::proof {
namespace {

constexpr int kLookMilliseconds = 200;

// What has come from one side and has not gone to the other.
class Stream {
 public:
  Stream(int from, int to) : from_(from), to_(to) {}

  bool holds_something() const { return at_ < size_; }
  int from() const { return from_; }
  int to() const { return to_; }

  // False: that side has ended.
  bool take() {
    const ssize_t got = recv(from_, bytes_.data(), bytes_.size(), MSG_DONTWAIT);
    if (got < 0) return is_passing(errno);
    at_ = 0;
    size_ = static_cast<std::size_t>(got);
    return got > 0;
  }
  bool give() {
    const ssize_t sent = send(to_, bytes_.data() + at_, size_ - at_, MSG_DONTWAIT | MSG_NOSIGNAL);
    if (sent < 0) return is_passing(errno);
    at_ += static_cast<std::size_t>(sent);
    return true;
  }

 private:
  static bool is_passing(int error) { return error == EAGAIN || error == EINTR; }

  int from_, to_;
  std::array<std::byte, 64 << 10> bytes_;
  std::size_t at_ = 0, size_ = 0;
};

// False: one side has ended. The events of each stream's two sockets are its own, so that a full
// one does not wake what has nothing for it.
bool carry(Stream& stream) {
  pollfd entry =
      stream.holds_something() ? pollfd{stream.to(), POLLOUT, 0} : pollfd{stream.from(), POLLIN, 0};
  if (poll(&entry, 1, 0) <= 0) return true;
  return stream.holds_something() ? stream.give() : stream.take();
}

}  // namespace

void relay(const UniqueFd& one, const UniqueFd& other, const std::function<bool()>& goes_on) {
  Stream there(one.get(), other.get()), back(other.get(), one.get());
  while (goes_on()) {
    std::array<pollfd, 2> entries;
    for (std::size_t i = 0; Stream* const each : {&there, &back}) {
      entries[i++] = each->holds_something() ? pollfd{each->to(), POLLOUT, 0}
                                             : pollfd{each->from(), POLLIN, 0};
    }
    if (poll(entries.data(), entries.size(), kLookMilliseconds) <= 0) continue;
    if (!carry(there) || !carry(back)) return;
  }
}

}  // namespace gdr::proof
