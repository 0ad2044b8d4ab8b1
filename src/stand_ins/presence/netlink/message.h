// One message of netlink with its attributes, to be sent to a program. Nothing is allocated.
//
//   Message message(request.nlmsg_type, NLM_F_MULTI, request, to);
//   message.add_text(RDMA_NLDEV_ATTR_DEV_NAME, "soft0");
//   message.send(to);
#pragma once

#include <linux/netlink.h>

#include <cstddef>
#include <cstdint>
#include <cstring>

#include "presence/netlink/answer.h"

namespace gdr::presence::netlink {

inline constexpr std::size_t kMostMessage =
    4096;  // more than a device, a port or its counters need

// One message with its attributes. What does not fit is left out.
class Message {
 public:
  Message(std::uint16_t type, std::uint16_t flags, const nlmsghdr& request, const Receiver& to) {
    header().nlmsg_type = type;
    header().nlmsg_flags = flags;
    header().nlmsg_seq = request.nlmsg_seq;
    header().nlmsg_pid = to.port_id;
  }

  void* add_body(std::size_t length) {
    if (length_ + NLMSG_ALIGN(length) > kMostMessage) return nullptr;
    void* body = bytes_ + length_;
    length_ += NLMSG_ALIGN(length);
    return body;
  }

  void add(std::uint16_t type, const void* value, std::size_t length) {
    void* room = add_body(NLA_HDRLEN + length);
    if (room == nullptr) return;
    const nlattr attribute{static_cast<std::uint16_t>(NLA_HDRLEN + length), type};
    std::memcpy(room, &attribute, sizeof attribute);
    if (length != 0) std::memcpy(static_cast<char*>(room) + NLA_HDRLEN, value, length);
  }

  template <typename Number>
  void add_number(std::uint16_t type, Number number) {
    add(type, &number, sizeof number);
  }
  void add_text(std::uint16_t type, const char* text) { add(type, text, std::strlen(text) + 1); }

  // What is added until end_nested() is inside of one attribute. The kernel marks it as nested.
  std::size_t begin_nested(std::uint16_t type) {
    const std::size_t at = length_;
    add(type | NLA_F_NESTED, nullptr, 0);
    return at;
  }
  void end_nested(std::size_t begun) {
    if (begun + NLA_HDRLEN > length_) return;  // there was no room for it
    nlattr attribute;
    std::memcpy(&attribute, bytes_ + begun, sizeof attribute);
    attribute.nla_len = static_cast<std::uint16_t>(length_ - begun);
    std::memcpy(bytes_ + begun, &attribute, sizeof attribute);
  }
  // Room for that many bytes of an attribute's value.
  bool has_room(std::size_t value) const {
    return length_ + NLA_HDRLEN + NLMSG_ALIGN(value) <= kMostMessage;
  }

  void send(const Receiver& to) {
    header().nlmsg_len = static_cast<std::uint32_t>(length_);
    to.send(to.context, bytes_, length_);
  }

 private:
  nlmsghdr& header() { return *reinterpret_cast<nlmsghdr*>(bytes_); }

  alignas(nlmsghdr) char bytes_[kMostMessage] = {};
  std::size_t length_ = NLMSG_HDRLEN;
};

}  // namespace gdr::presence::netlink
