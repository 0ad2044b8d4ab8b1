// Link: one RC queue pair between the two processes, on the first RDMA device.
//
//   Link link;
//   link.connect(address_of_the_other);
//   link.post(IBV_WR_RDMA_WRITE, here, there, bytes);
//   link.take();
#pragma once

#include <infiniband/verbs.h>

#include <cstddef>
#include <cstdint>

namespace gdr::bench {

struct LinkAddress {
  ibv_gid gid{};
  std::uint32_t qp_number = 0;
};

// Registered memory; the key is the local one of one's own, the remote one of the peer's.
struct Place {
  std::uint64_t address = 0;
  std::uint32_t key = 0;
  std::uint32_t remote_key = 0;
};

class Link {
 public:
  Link();

  const char* device() const;
  LinkAddress address() const;
  void connect(const LinkAddress& other);
  Place enroll(std::uint64_t address, std::size_t bytes, const char* what);

  // `offset`: of both, from their starts. Hot.
  void post(ibv_wr_opcode opcode, const Place& here, const Place& there, std::size_t offset,
            std::size_t bytes);
  // Returns when one more request has completed.
  void take();

 private:
  ibv_context* context_ = nullptr;
  ibv_pd* domain_ = nullptr;
  ibv_cq* queue_ = nullptr;
  ibv_qp* queue_pair_ = nullptr;
};

}  // namespace gdr::bench
