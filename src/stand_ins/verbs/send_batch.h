// SendBatch: the work requests between ibv_wr_start and ibv_wr_complete.
//
//   batch.start();
//   batch.begin(request);                  // one for each ibv_wr_send, ibv_wr_rdma_write, ...
//   batch.set_segments({&sge, 1});         // of the request begun last
//   int error = batch.complete(queue);     // posts all of them or, on any error, none
//
// Setters return nothing, so the first error is kept until complete(). Hot; its vectors keep their
// capacity, so that a program in its stride allocates nothing.
#pragma once

#include <infiniband/verbs.h>

#include <cstdint>
#include <mutex>
#include <span>
#include <vector>

#include "rnic/queue_pair.h"

namespace gdr::verbs {

class SendBatch {
 public:
  explicit SendBatch(const rnic::QueuePairSettings& settings);

  // Held from start() to complete() or abort().
  std::mutex& posting() { return posting_; }

  void start();
  void begin(const ibv_send_wr& request);
  void set_address(ibv_ah* address, std::uint32_t remote_qp, std::uint32_t remote_qkey);
  void set_remote_srq(std::uint32_t number);
  void set_segments(std::span<const ibv_sge> segments);
  void set_inline(std::span<const ibv_data_buf> buffers);
  std::uint64_t bytes() const;  // of all segments since start()
  int complete(rnic::QueuePair& queue);
  void abort();

 private:
  struct Entry {
    ibv_send_wr request;
    std::size_t first_segment;
    std::size_t first_byte;
    bool has_data;
  };

  void note(int error) {
    if (error_ == 0) error_ = error;
  }
  Entry* last();  // null, and an error noted, before the first begin()
  int check(const rnic::QueuePair& queue) const;
  void link();

  const ibv_qp_type type_;
  const std::uint32_t max_segments_, max_inline_;
  std::mutex posting_;
  int error_ = 0;
  std::vector<Entry> entries_;
  std::vector<ibv_sge> segments_;
  std::vector<std::uint8_t> bytes_;  // inline data, copied when it is set
};

}  // namespace gdr::verbs
