// XRC through the C interface: a domain by a file that the processes share, shared receive queues
// in it, and both ends of a connection.
#pragma once

#include <fcntl.h>
#include <sys/mman.h>
#include <unistd.h>

#include <string>

#include "side.h"

namespace gdr::test {

inline ibv_xrcd* open_xrcd(Side& side, int descriptor, int flags = O_CREAT) {
  ibv_xrcd_init_attr init{};
  init.comp_mask = IBV_XRCD_INIT_ATTR_FD | IBV_XRCD_INIT_ATTR_OFLAGS;
  init.fd = descriptor;
  init.oflags = flags;
  return ibv_open_xrcd(side.context(), &init);
}

inline ibv_srq* xrc_srq(Side& side, ibv_xrcd* xrcd, ibv_pd* pd = nullptr) {
  ibv_srq_init_attr_ex init{};
  init.attr = {.max_wr = 128, .max_sge = 2, .srq_limit = 0};
  init.comp_mask =
      IBV_SRQ_INIT_ATTR_TYPE | IBV_SRQ_INIT_ATTR_PD | IBV_SRQ_INIT_ATTR_XRCD | IBV_SRQ_INIT_ATTR_CQ;
  init.srq_type = IBV_SRQT_XRC;
  init.pd = pd != nullptr ? pd : side.domain();
  init.xrcd = xrcd;
  init.cq = side.queue();
  ibv_srq* srq = ibv_create_srq_ex(side.context(), &init);
  require(srq != nullptr, "an XRC shared receive queue");
  return srq;
}

inline std::uint32_t number_of(ibv_srq* srq) {
  std::uint32_t number = 0;
  require(ibv_get_srq_num(srq, &number) == 0, "it has a number");
  return number;
}

// In the state INIT.
inline ibv_qp* xrc_queue_pair(Side& side, ibv_qp_type type, ibv_xrcd* xrcd = nullptr) {
  ibv_qp_init_attr_ex init{};
  init.qp_type = type;
  init.comp_mask = type == IBV_QPT_XRC_RECV ? IBV_QP_INIT_ATTR_XRCD : IBV_QP_INIT_ATTR_PD;
  init.pd = side.domain();
  init.xrcd = xrcd;
  init.send_cq = side.queue();
  init.cap.max_send_wr = 64;
  init.cap.max_send_sge = 4;
  init.cap.max_inline_data = 256;
  ibv_qp* qp = ibv_create_qp_ex(side.context(), &init);
  require(qp != nullptr, "an XRC queue pair");
  require(step(qp, attributes_towards(0, {}), IBV_QPS_INIT) == 0, "to INIT");
  return qp;
}

// INIT to RTS.
inline void connect_xrc(ibv_qp* qp, const Endpoint& to, const Patience& patience = {}) {
  const ibv_qp_attr attr = attributes_towards(qp, to, patience);
  require(step(qp, attr, IBV_QPS_RTR) == 0, "to RTR");
  require(step(qp, attr, IBV_QPS_RTS) == 0, "to RTS");
}

inline ibv_send_wr xrc_request(ibv_wr_opcode opcode, std::uint32_t srq, const Remote& to = {},
                               std::uint64_t id = 1) {
  ibv_send_wr request{};
  request.wr_id = id;
  request.opcode = opcode;
  request.send_flags = IBV_SEND_SIGNALED;
  request.imm_data = static_cast<std::uint32_t>(id);
  request.wr.rdma.remote_addr = to.address;
  request.wr.rdma.rkey = to.key;
  request.qp_type.xrc.remote_srqn = srq;
  return request;
}

constexpr std::size_t kReceivedBytes = 64 << 10;

// A file that the children of a test inherit.
class SharedFile {
 public:
  SharedFile() : descriptor_(memfd_create("xrc-test", 0)) {}
  ~SharedFile() { close(descriptor_); }
  SharedFile(const SharedFile&) = delete;
  SharedFile& operator=(const SharedFile&) = delete;
  int get() const { return descriptor_; }

 private:
  int descriptor_;
};

// A process with a shared receive queue in the domain; `listens`: with the connection's end too.
struct Receiver {
  Side side;
  ibv_xrcd* xrcd;
  ibv_srq* srq;
  Memory& memory;
  ibv_qp* qp = nullptr;
  Receiver(Wire& wire, int descriptor, bool listens, std::size_t bytes = kReceivedBytes)
      : xrcd(open_xrcd(side, descriptor)),
        srq((require(xrcd != nullptr, "an XRC domain"), xrc_srq(side, xrcd))),
        memory(side.memory(bytes)) {
    wire.send(number_of(srq));
    wire.send(memory.remote());
    if (listens) {
      qp = xrc_queue_pair(side, IBV_QPT_XRC_RECV, xrcd);
      wire.send(side.endpoint(qp));
      connect_xrc(qp, wire.receive<Endpoint>());
      wire.meet();
    }
  }
};

struct Destination {
  std::uint32_t srq;
  Remote memory;
  explicit Destination(Wire& wire)
      : srq(wire.receive<std::uint32_t>()), memory(wire.receive<Remote>()) {}
};

inline ibv_qp* connect_sender(Side& side, Wire& wire) {
  ibv_qp* qp = xrc_queue_pair(side, IBV_QPT_XRC_SEND);
  const auto to = wire.receive<Endpoint>();
  wire.send(side.endpoint(qp));
  connect_xrc(qp, to);
  wire.meet();
  return qp;
}

}  // namespace gdr::test
