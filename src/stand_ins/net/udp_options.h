// What every socket needs that packets leave from: see udp_port.h.
#pragma once

#include <sys/socket.h>

#include <cstddef>
#include <cstdint>
#include <cstring>

namespace gdr::net {

constexpr int kEcnCapable = 2;  // ECT(0), RFC 3168

// Beside one send: the length of a burst's packets, and a traffic class.
class ControlMessages {
 public:
  void add(int level, int type, const auto& value) {
    auto* header = reinterpret_cast<cmsghdr*>(bytes_ + used_);
    header->cmsg_level = level;
    header->cmsg_type = type;
    header->cmsg_len = CMSG_LEN(sizeof value);
    std::memcpy(CMSG_DATA(header), &value, sizeof value);
    used_ += CMSG_SPACE(sizeof value);
  }
  bool is_empty() const { return used_ == 0; }
  void attach_to(msghdr* message) {
    message->msg_control = bytes_;
    message->msg_controllen = used_;
  }

 private:
  alignas(cmsghdr) char bytes_[CMSG_SPACE(sizeof(std::uint16_t)) + CMSG_SPACE(sizeof(int))];
  std::size_t used_ = 0;
};

bool set_option(int socket, int level, int name, int value);
// Room in its buffers, "do not fragment", and ECN.
bool set_packet_options(int socket, bool ipv4);

}  // namespace gdr::net
