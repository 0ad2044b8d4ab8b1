// A reliable queue pair on its way from RESET to RTS, as both benchmarks connect theirs.
//
//   if (const NotConnected wrong = connect(queue_pair, {other.qp_number, other.gid}); wrong.step) {
//     give_up("{}: {}", wrong.step, std::strerror(wrong.error));
//   }
#pragma once

#include <infiniband/verbs.h>

#include <cstdint>

namespace gdr::bench {

constexpr int kAccess = IBV_ACCESS_LOCAL_WRITE | IBV_ACCESS_REMOTE_WRITE | IBV_ACCESS_REMOTE_READ;
constexpr std::uint8_t kPort = 1;

struct OtherEnd {
  std::uint32_t qp_number;
  ibv_gid gid;
};

struct NotConnected {
  const char* step;  // null: it is connected
  int error;         // an errno value
};
NotConnected connect(ibv_qp* queue_pair, const OtherEnd& other);

}  // namespace gdr::bench
