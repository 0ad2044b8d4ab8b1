// The way of a queue pair from RESET to work, whatever its transport.
//
//   rdma::States states{.type = IBV_QPT_RC, .mtu = IBV_MTU_4096};
//   if (Result<void> done = rdma::bring_up(nic, qp, mine, theirs, states); !done) ...
#pragma once

#include <infiniband/verbs.h>

#include <cstdint>

#include "base/result.h"
#include "rdma/device.h"

namespace gdr::rdma {

// One end of a connection, as the two sides tell each other.
struct Endpoint {
  std::uint32_t number = 0;
  std::uint32_t packet_sequence = 0;
  std::uint8_t port = 1;
  std::uint16_t lid = 0;
  std::uint8_t gid_index = 0;
  ibv_gid gid{};
  bool global = false;  // address by GID: always on Ethernet
};

constexpr std::uint32_t kQKey = 0x11223344;

struct States {
  ibv_qp_type type = IBV_QPT_RC;
  ibv_mtu mtu = IBV_MTU_1024;
  bool atomics = true;     // a NIC without them may refuse the access right
  std::uint8_t reads = 1;  // reads and atomics under way
  std::uint8_t service_level = 0;
  std::uint8_t traffic_class = 0;
};

// RC, UC and XRC: INIT, RTR, RTS towards `theirs`. UD and raw: as far as they need; `theirs` is not
// used.
Result<void> bring_up(const Device& device, ibv_qp* queue_pair, const Endpoint& mine,
                      const Endpoint& theirs, const States& states);

// The path to `theirs`, for a queue pair or a UD address handle.
ibv_ah_attr path_to(const Endpoint& mine, const Endpoint& theirs, const States& states = {});

}  // namespace gdr::rdma
