// DatagramEndpoint: the unreliable-datagram queue pair that stands for one local address of a
// datagram socket, with its completion queue and registered memory.
//
//   DatagramEndpoint endpoint;
//   if (int error = endpoint.open(name, sizes)) return error;
//   while (std::optional<DatagramEndpoint::Message> message = endpoint.poll()) ...
//   if (endpoint.can_send()) endpoint.send(handle, queue_pair, header, pieces);
//
// Not safe for several threads: the socket's mutex guards it.
#pragma once

#include <infiniband/verbs.h>
#include <rdma/rdma_cma.h>
#include <sys/uio.h>

#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <vector>

#include "rsockets/completions.h"
#include "rsockets/datagram_peers.h"
#include "rsockets/name.h"
#include "rsockets/registered_bytes.h"

namespace gdr::rsockets {

struct DestroyConnectionId {
  void operator()(rdma_cm_id* id) const { rdma_destroy_id(id); }
};
using ConnectionId = std::unique_ptr<rdma_cm_id, DestroyConnectionId>;

struct DatagramSizes {
  std::uint32_t sends = 0, receives = 0;  // packets
  std::uint32_t inline_bytes = 0;
};

class DatagramEndpoint {
 public:
  // One that arrived. It occupies its slot until give_back().
  struct Message {
    std::uint32_t slot = 0;
    std::span<const std::uint8_t> bytes;  // header and data
    Address source{};                     // where the packet came from
  };

  DatagramEndpoint() = default;
  DatagramEndpoint(const DatagramEndpoint&) = delete;
  DatagramEndpoint& operator=(const DatagramEndpoint&) = delete;
  ~DatagramEndpoint();

  // `name`: a local one, with the socket's port. Errno values; 0: done.
  int open(const Name& name, const DatagramSizes& wanted);
  // A handle for packets to a device's address.
  int reach(const Name& peer, const Address& device, AddressHandle& made);

  const Name& name() const { return name_; }
  const Address& device() const { return device_; }
  std::uint32_t number() const { return id_->qp->qp_num; }
  std::size_t largest_packet() const { return largest_; }

  bool can_send() const { return !free_sends_.empty(); }
  bool all_sent() const { return free_sends_.size() == sends_; }
  int send(ibv_ah* handle, std::uint32_t queue_pair, std::span<const std::uint8_t> header,
           std::span<const iovec> pieces);

  // The next message; completions of sends are taken along.
  std::optional<Message> poll();
  void give_back(std::uint32_t slot);
  // False: its queue pair failed.
  bool works() const { return works_; }

  Completions& completions() { return completions_; }

 private:
  int open_queue_pair(const DatagramSizes& sizes);
  std::optional<Message> received(ibv_wc& done);
  const std::uint8_t* slot_bytes(std::uint32_t slot) const;

  Name name_;
  ConnectionId id_;
  Address device_{};
  std::uint8_t gid_index_ = 0;
  std::size_t largest_ = 0;
  std::uint32_t sends_ = 0, inline_bytes_ = 0;
  bool has_queue_pair_ = false, works_ = true;
  Completions completions_;
  RegisteredBytes send_memory_, receive_memory_;
  std::vector<std::uint32_t> free_sends_;  // slots
};

}  // namespace gdr::rsockets
