// RequestList: requests that are posted by one call.
//
//   RequestList list(IBV_WR_RDMA_WRITE);
//   list.add(memory, 0, 8, there, 64);  // 8 bytes to offset 64 there
//   list.post(qp, /*tells_of_each=*/false);
#pragma once

#include <cstdint>
#include <vector>

#include "connection.h"

namespace gdr::test {

class RequestList {
 public:
  static constexpr std::uint32_t kMost = 256;  // of a list here: more than one call carries

  explicit RequestList(ibv_wr_opcode opcode) : opcode_(opcode) {
    requests_.reserve(kMost);
    segments_.reserve(3 * kMost);
  }
  // Its bytes here may be cut into several segments.
  void add(const Memory& memory, std::size_t at, std::size_t length, const Remote& there,
           std::size_t remote_at, std::uint32_t segments = 1, unsigned flags = 0) {
    ibv_send_wr request{};
    request.wr_id = requests_.size();
    request.opcode = opcode_;
    request.send_flags = flags;
    request.sg_list = segments_.data() + segments_.size();
    request.num_sge = static_cast<int>(segments);
    request.wr.rdma = {there.address + remote_at, there.key};
    for (std::uint32_t i = 0; i < segments; ++i) {
      const std::size_t from = length * i / segments, to = length * (i + 1) / segments;
      segments_.push_back(memory.segment(at + from, to - from));
    }
    requests_.push_back(request);
  }
  std::uint32_t size() const { return static_cast<std::uint32_t>(requests_.size()); }
  void post(ibv_qp* qp, bool tells_of_each) {
    for (std::size_t i = 0; i < requests_.size(); ++i) {
      const bool is_last = i + 1 == requests_.size();
      requests_[i].next = is_last ? nullptr : &requests_[i + 1];
      if (tells_of_each || is_last) requests_[i].send_flags |= IBV_SEND_SIGNALED;
    }
    ibv_send_wr* bad = nullptr;
    require(ibv_post_send(qp, requests_.data(), &bad) == 0, "posted");
  }

 private:
  const ibv_wr_opcode opcode_;
  std::vector<ibv_send_wr> requests_;
  std::vector<ibv_sge> segments_;
};

}  // namespace gdr::test
