// Loopback: one device and two RC queue pairs of it that are connected to each other.
//
//   Loopback nic;
//   ibv_mr* region = ibv_reg_mr(nic.pd(), data, bytes, kRights);
//   ibv_wc_status done = nic.write(from, from_mr->lkey, to, region->rkey, bytes);
#pragma once

#include <infiniband/verbs.h>

#include <cstdint>

namespace peermem_check {

constexpr int kRights = IBV_ACCESS_LOCAL_WRITE | IBV_ACCESS_REMOTE_WRITE | IBV_ACCESS_REMOTE_READ;

class Loopback {
 public:
  Loopback();
  ~Loopback();
  Loopback(const Loopback&) = delete;
  Loopback& operator=(const Loopback&) = delete;

  ibv_pd* pd() const { return pd_; }

  // From the first address, which `lkey` opens, to the second, which `rkey` does.
  ibv_wc_status write(const void* from, std::uint32_t lkey, std::uint64_t to, std::uint32_t rkey,
                      std::uint32_t bytes) {
    return carry_out(IBV_WR_RDMA_WRITE, from, lkey, to, rkey, bytes);
  }
  // Into the first, out of the second.
  ibv_wc_status read(void* into, std::uint32_t lkey, std::uint64_t from, std::uint32_t rkey,
                     std::uint32_t bytes) {
    return carry_out(IBV_WR_RDMA_READ, into, lkey, from, rkey, bytes);
  }

 private:
  void connect();
  ibv_wc_status carry_out(ibv_wr_opcode opcode, const void* local, std::uint32_t lkey,
                          std::uint64_t remote, std::uint32_t rkey, std::uint32_t bytes);

  ibv_context* context_ = nullptr;
  ibv_pd* pd_ = nullptr;
  ibv_cq* cq_ = nullptr;
  ibv_qp* queues_[2] = {};
};

}  // namespace peermem_check
