// Settings: an administrator's defaults for rsockets, one small file each (rsocket(7)).
//
//   const Settings& defaults = settings();    // of /etc/rdma/rsocket, read once
//
// A file that is absent, or does not begin with a number, changes nothing; a number out of range
// becomes the nearest that works.
#pragma once

#include <cstdint>
#include <string>

namespace gdr::rsockets {

struct Settings {
  std::uint32_t receive_bytes = 1 << 17;  // mem_default
  std::uint32_t send_bytes = 1 << 17;     // wmem_default
  std::uint32_t send_queue = 384;         // sqsize_default
  std::uint32_t receive_queue = 384;      // rqsize_default
  std::uint32_t inline_bytes = 64;        // inline_default
  std::uint32_t mappings = 0;             // iomap_size
  std::uint32_t polling_us = 10;          // polling_time: how long a call looks before it sleeps
  std::uint32_t wake_up_ms = 500;         // wake_up_interval: how long it sleeps at most
};

constexpr std::uint32_t kSmallestQueue = 16;
constexpr std::uint32_t kLargestQueue = 0xFFFE;
constexpr std::uint32_t kSmallestSendBytes = 2048;  // a call waits until it can send that much
constexpr std::uint32_t kLargestBuffer = 1 << 28;   // 29 bits of an immediate count its bytes

Settings read_settings(const std::string& folder);
const Settings& settings();

}  // namespace gdr::rsockets
