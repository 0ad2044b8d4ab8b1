// Side: one process's device, as a program holds it through <infiniband/verbs.h>: a protection
// domain, one completion queue, registered memory and queue pairs. Throws Failure.
//
//   Side side;
//   Memory& memory = side.memory(1 << 20);
//   ibv_qp* qp = side.queue_pair(IBV_QPT_RC);
//   side.connect(qp, wire.receive<Endpoint>());
//   side.write(qp, memory, 0, 4096, wire.receive<Remote>());
//   side.expect(IBV_WC_SUCCESS);
#pragma once

#include <infiniband/verbs.h>

#include <cstdint>
#include <memory>
#include <vector>

#include "process.h"
#include "queue_pair_steps.h"

namespace gdr::test {

constexpr unsigned kAllAccess = IBV_ACCESS_LOCAL_WRITE | IBV_ACCESS_REMOTE_WRITE |
                                IBV_ACCESS_REMOTE_READ | IBV_ACCESS_REMOTE_ATOMIC;
constexpr std::uint32_t kQueueKey = 0x1234567;

struct Endpoint {
  std::uint32_t number;
  ibv_gid gid;
};

// Another process's memory, as it is told over the wire.
struct Remote {
  std::uint64_t address;
  std::uint64_t length;
  std::uint32_t key;
};

// Byte i of a message: depends on the place, so that a displaced block is seen.
inline std::uint8_t pattern(std::uint64_t seed, std::uint64_t i) {
  std::uint64_t x = (i + 1) * 0x9e3779b97f4a7c15 + seed * 0xbf58476d1ce4e5b9;
  x ^= x >> 29;
  return static_cast<std::uint8_t>(x * 0x94d049bb133111eb >> 56);
}

class Memory {
 public:
  Memory(ibv_pd* pd, std::size_t bytes, unsigned access);
  ~Memory();
  Memory(const Memory&) = delete;
  Memory& operator=(const Memory&) = delete;

  std::uint8_t* bytes() { return bytes_; }
  std::size_t size() const { return size_; }
  ibv_mr* region() { return region_; }
  std::uint32_t key() const { return key_; }
  Remote remote() const { return {reinterpret_cast<std::uint64_t>(bytes_), size_, key_}; }
  ibv_sge segment(std::size_t offset, std::size_t length) const {
    return {reinterpret_cast<std::uint64_t>(bytes_) + offset, static_cast<std::uint32_t>(length),
            key_};
  }
  void fill(std::uint8_t value);
  void fill_pattern(std::uint64_t seed, std::size_t offset, std::size_t length);
  // Where [offset, offset + length) first differs; -1 if nowhere.
  std::int64_t first_not_pattern(std::uint64_t seed, std::size_t offset, std::size_t length) const;
  std::int64_t first_not(std::uint8_t value, std::size_t offset, std::size_t length) const;
  void deregister();

 private:
  std::uint8_t* bytes_ = nullptr;
  std::size_t size_;
  ibv_mr* region_ = nullptr;
  std::uint32_t key_ = 0;
};

struct Patience {
  std::uint8_t timeout = 14;  // 67 ms, times retry_count + 1
  std::uint8_t retry_count = 7;
  std::uint8_t rnr_retry = 7;
  std::uint8_t minimum_rnr_timer = 1;  // 10 us
  unsigned access = kAllAccess;
};

ibv_mtu path_mtu(ibv_context* context);  // what its port lets through
// As in queue_pair_steps.h.
ibv_qp_attr attributes_towards(ibv_qp* qp, const Endpoint& to, const Patience& patience);

class Side {
 public:
  explicit Side(int device = 0, int completions = 1024, bool with_channel = false);
  ~Side();
  Side(const Side&) = delete;
  Side& operator=(const Side&) = delete;

  ibv_context* context() { return context_; }
  ibv_pd* domain() { return pd_; }
  ibv_cq* queue() { return cq_; }
  ibv_comp_channel* channel() { return channel_; }

  Memory& memory(std::size_t bytes, unsigned access = kAllAccess);
  // In the state INIT. A null queue means this side's, a null SRQ none.
  ibv_qp* queue_pair(ibv_qp_type type, std::uint32_t send_requests = 64, bool signal_all = false,
                     ibv_cq* receive_queue = nullptr, ibv_srq* srq = nullptr);
  Endpoint endpoint(ibv_qp* qp);
  // INIT to RTS; for UD and raw packets `to` is not looked at.
  void connect(ibv_qp* qp, const Endpoint& to = {}, const Patience& patience = {});
  static int move_to(ibv_qp* qp, ibv_qp_state state);
  ibv_ah* address_handle(const Endpoint& to);

  void receive(ibv_qp* qp, std::vector<ibv_sge> segments, std::uint64_t id = 0);
  void receive(ibv_srq* srq, std::vector<ibv_sge> segments, std::uint64_t id = 0);
  void post(ibv_qp* qp, ibv_send_wr request, std::vector<ibv_sge> segments);
  void write(ibv_qp* qp, Memory& from, std::size_t offset, std::size_t length, const Remote& to,
             std::size_t remote_offset = 0, std::uint64_t id = 1,
             ibv_wr_opcode opcode = IBV_WR_RDMA_WRITE);
  void read(ibv_qp* qp, Memory& into, std::size_t offset, std::size_t length, const Remote& from,
            std::size_t remote_offset = 0, std::uint64_t id = 2);
  void send(ibv_qp* qp, Memory& from, std::size_t offset, std::size_t length, std::uint64_t id = 3,
            ibv_wr_opcode opcode = IBV_WR_SEND);

  // The next completion.
  ibv_wc completion(ibv_cq* queue = nullptr);
  ibv_wc expect(ibv_wc_status status, ibv_cq* queue = nullptr);
  // That none comes for a while.
  void expect_quiet(int milliseconds = 30);
  // The next asynchronous event, acknowledged.
  ibv_event_type event();

 private:
  ibv_context* context_ = nullptr;
  ibv_pd* pd_ = nullptr;
  ibv_comp_channel* channel_ = nullptr;
  ibv_cq* cq_ = nullptr;
  std::vector<std::unique_ptr<Memory>> memories_;
};

}  // namespace gdr::test
