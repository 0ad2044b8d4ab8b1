#include "rsockets/datagram_protocol.h"

#include <algorithm>

namespace gdr::rsockets {
namespace {

constexpr std::uint8_t kTag = 0x55;  // four times
constexpr std::uint8_t kData = 0, kControl = 7;
constexpr std::size_t kAnnouncementV4 = 16, kAnnouncementV6 = 28;
constexpr std::size_t kSenderV4 = 8, kSenderV6 = 24;

Address v4(const std::uint8_t* bytes) {
  Address address{};
  address[10] = address[11] = 0xff;
  std::copy_n(bytes, 4, &address[12]);
  return address;
}

}  // namespace

Header encode(const Announcement& announcement) {
  Header header;
  const bool is_short = is_v4(announcement.address);
  std::uint8_t* bytes = header.bytes_.data();
  std::fill_n(bytes, 4, kTag);
  bytes[4] = is_short ? 4 : 6;
  bytes[5] = announcement.carries_data ? kData : kControl;
  bytes[6] = static_cast<std::uint8_t>(is_short ? kAnnouncementV4 : kAnnouncementV6);
  bytes[9] = static_cast<std::uint8_t>(announcement.queue_pair >> 16);
  bytes[10] = static_cast<std::uint8_t>(announcement.queue_pair >> 8);
  bytes[11] = static_cast<std::uint8_t>(announcement.queue_pair);
  if (is_short) {
    std::copy_n(&announcement.address[12], 4, &bytes[12]);
  } else {
    std::ranges::copy(announcement.address, &bytes[12]);
  }
  header.size_ = bytes[6];
  return header;
}

std::optional<Announcement> decode_announcement(std::span<const std::uint8_t> packet,
                                                std::size_t& size) {
  if (packet.size() < kAnnouncementV4 || packet.size() < packet[6]) return std::nullopt;
  if (!std::all_of(packet.begin(), packet.begin() + 4, [](auto b) { return b == kTag; })) {
    return std::nullopt;
  }
  const bool is_short = packet[4] == 4 && packet[6] == kAnnouncementV4;
  const bool is_long = packet[4] == 6 && packet[6] == kAnnouncementV6;
  if (!is_short && !is_long) return std::nullopt;
  if (packet[5] != kData && packet[5] != kControl) return std::nullopt;
  Announcement announcement;
  announcement.carries_data = packet[5] == kData;
  announcement.queue_pair = std::uint32_t{packet[9]} << 16 | packet[10] << 8 | packet[11];
  if (is_short) {
    announcement.address = v4(&packet[12]);
  } else {
    std::copy_n(&packet[12], 16, announcement.address.begin());
  }
  size = packet[6];
  return announcement;
}

Header encode(const Name& sender) {
  Header header;
  const bool is_short = is_v4(sender.address);
  std::uint8_t* bytes = header.bytes_.data();
  bytes[0] = is_short ? 4 : 6;
  bytes[1] = static_cast<std::uint8_t>(is_short ? kSenderV4 : kSenderV6);
  bytes[2] = static_cast<std::uint8_t>(sender.port >> 8);
  bytes[3] = static_cast<std::uint8_t>(sender.port);
  if (is_short) {
    std::copy_n(&sender.address[12], 4, &bytes[4]);
  } else {
    std::ranges::copy(sender.address, &bytes[8]);  // behind the flow information, which is 0
  }
  header.size_ = bytes[1];
  return header;
}

std::optional<Name> decode_sender(std::span<const std::uint8_t> message, std::size_t& size) {
  if (message.size() < kSenderV4 || message.size() < message[1]) return std::nullopt;
  const bool is_short = message[0] == 4 && message[1] == kSenderV4;
  const bool is_long = message[0] == 6 && message[1] == kSenderV6;
  if (!is_short && !is_long) return std::nullopt;
  Name sender;
  sender.port = static_cast<std::uint16_t>(message[2] << 8 | message[3]);
  if (is_short) {
    sender.address = v4(&message[4]);
  } else {
    std::copy_n(&message[8], 16, sender.address.begin());
  }
  size = message[1];
  return sender;
}

}  // namespace gdr::rsockets
