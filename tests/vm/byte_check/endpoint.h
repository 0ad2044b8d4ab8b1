// Endpoint: this side's device: three queue pairs (RC, UC, UD) towards the other side's, and one
// memory region.
//
//   Endpoint side("rxe0", 1);
//   side.connect(link.swap(side.ends()));
//   side.post(request);
//   ibv_wc done = side.await(5000);
#pragma once

#include <infiniband/verbs.h>

#include <cstdint>
#include <optional>

namespace byte_check {

constexpr std::size_t kMemory = 12 << 20;
constexpr std::uint32_t kQueue = 128;  // requests
constexpr std::uint32_t kInFlight = 48;
constexpr std::uint32_t kGrh = 40;  // in front of a datagram

// What the sides tell each other; both are little-endian.
struct Ends {
  std::uint32_t numbers[3];  // of the queue pairs: RC, UC, UD
  std::uint32_t rkey;
  std::uint64_t address;
  ibv_gid gid;
  std::uint32_t packet_sequence;
  std::uint32_t mtu;
};

struct Request {
  ibv_qp_type transport = IBV_QPT_RC;
  ibv_wr_opcode opcode = IBV_WR_SEND;
  std::size_t from = 0;  // places in the memories
  std::size_t to = 0;
  std::uint32_t bytes = 0;
  std::uint32_t immediate = 0;
  std::uint64_t compare_or_add = 0;
  std::uint64_t swap = 0;
};

class Endpoint {
 public:
  Endpoint(const char* device, int gid_index, std::uint32_t packet_sequence);

  Ends ends() const;
  void connect(const Ends& theirs);

  void post(const Request& request);
  void post_receive(ibv_qp_type transport, std::size_t to, std::uint32_t bytes);
  // The next completion of either kind; nothing within the time.
  std::optional<ibv_wc> await_send(int milliseconds) { return await(sends_, milliseconds); }
  std::optional<ibv_wc> await_receive(int milliseconds) { return await(receives_, milliseconds); }

  std::uint8_t* memory() { return memory_; }
  std::uint32_t mtu() const { return 128u << mtu_; }

 private:
  ibv_qp* create(ibv_qp_type type);
  void bring_up(ibv_qp* qp, std::uint32_t peer);
  ibv_ah_attr path() const;
  ibv_qp* queue(ibv_qp_type transport) const;
  static std::optional<ibv_wc> await(ibv_cq* queue, int milliseconds);

  ibv_context* context_ = nullptr;
  ibv_pd* pd_ = nullptr;
  ibv_cq* sends_ = nullptr;
  ibv_cq* receives_ = nullptr;
  ibv_mr* region_ = nullptr;
  ibv_ah* handle_ = nullptr;
  ibv_qp* queues_[3] = {};
  std::uint8_t* memory_ = nullptr;
  ibv_gid gid_{};
  int gid_index_;
  std::uint32_t packet_sequence_;
  ibv_mtu mtu_ = IBV_MTU_1024;
  Ends theirs_{};
};

}  // namespace byte_check
