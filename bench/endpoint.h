// Endpoint: one process's side: the first device, one RC queue pair with a completion queue for
// each direction, and the registered buffers. The same in both processes.
//
//   Endpoint endpoint;
//   endpoint.connect(introduction_of_the_other);
//   endpoint.write(kOneMiB, 1 << 20);  // into the other's twin; returns when it has completed
#pragma once

#include <infiniband/verbs.h>

#include <array>
#include <cstdint>
#include <memory>

#include "buffer.h"
#include "messages.h"

namespace gdr::bench {

constexpr std::uint32_t kSendDepth = 128;
constexpr std::uint32_t kReceiveDepth = 128;
constexpr int kReceivesAhead = 32;  // of a ping-pong

template <typename Object>
using Owned = std::unique_ptr<Object, int (*)(Object*)>;

class Endpoint {
 public:
  Endpoint();

  Introduction introduction() const;
  void connect(const Introduction& other);

  Buffer& buffer(BufferId id) { return *buffers_[id]; }

  // One request, from this side's buffer to its twin (read: the other way), until it has completed.
  // Hot.
  void write(BufferId id, std::uint32_t length, unsigned flags = 0);
  void read(BufferId id, std::uint32_t length);
  void send(BufferId id, std::uint32_t length);
  // RDMA writes, or reads, in one list, each `stride` bytes behind the one before it on both sides;
  // only the last is signalled.
  void run_list(BufferId id, ibv_wr_opcode opcode, std::uint32_t length, int count,
                std::uint32_t stride);

  // Receives go into kOneMiB.
  void top_up_receives(int count);
  void take_receives(int count);

  // Message by message, each answered by the other side. Sleeping: with completion events.
  void ping(int count, std::uint32_t length, bool sleeping);
  void pong(int count, std::uint32_t length, bool sleeping);

 private:
  ibv_send_wr request(BufferId id, ibv_wr_opcode opcode, ibv_sge& segment, std::uint32_t length);
  void post(ibv_send_wr& request);
  void run(ibv_send_wr& request);  // posts it signalled and polls for it
  void send_unsignalled(std::uint32_t length);
  void post_receive();
  void wait_receive(bool sleeping);
  void take(ibv_cq* cq);

  Owned<ibv_context> context_{nullptr, ibv_close_device};
  Owned<ibv_pd> domain_{nullptr, ibv_dealloc_pd};
  Owned<ibv_comp_channel> channel_{nullptr, ibv_destroy_comp_channel};
  Owned<ibv_cq> send_queue_{nullptr, ibv_destroy_cq};
  Owned<ibv_cq> receive_queue_{nullptr, ibv_destroy_cq};
  Owned<ibv_qp> queue_pair_{nullptr, ibv_destroy_qp};
  std::array<std::unique_ptr<Buffer>, kBuffers> buffers_;
  std::array<Owned<ibv_mr>, kBuffers> regions_;
  std::array<RemoteBuffer, kBuffers> twins_{};
  int receives_posted_ = 0;
  int unsignalled_ = 0;
};

}  // namespace gdr::bench
