// Worker: one side of the proof: a NIC, a GPU, buffers and queue pairs, driven by requests. It runs
// in a process of its own, so that a library that crashes or hangs is a finding and not the end.
//
//   Worker worker;
//   serve(worker, talk);   // until the other end closes
#pragma once

#include <map>
#include <memory>

#include "cuda/driver.h"
#include "participants/memory.h"
#include "process/worker.h"
#include "proof/client.h"
#include "rdma/device.h"
#include "rdma/queue_pair.h"
#include "rdma/resources.h"

namespace gdr::perf {
class Rows;
}

namespace gdr::proof {

class Worker {
 public:
  Worker();
  ~Worker();

  // worker_devices.cc
  Result<Survey::Reply> handle(const Survey& request);
  Result<Open::Reply> handle(const Open& request);
  // worker_memory.cc
  Result<CreateBuffer::Reply> handle(const CreateBuffer& request);
  Result<Nothing> handle(const DestroyBuffer& request);
  Result<Nothing> handle(const Prepare& request);
  Result<Nothing> handle(const Fill& request);
  Result<Nothing> handle(const Store& request);
  Result<Damage> handle(const Examine& request);
  // worker_queues.cc
  Result<CreateQueue::Reply> handle(const CreateQueue& request);
  Result<Nothing> handle(const Connect& request);
  Result<Nothing> handle(const DestroyQueue& request);
  Result<Nothing> handle(const Steer& request);
  Result<Nothing> handle(const PostReceive& request);
  Result<Completion> handle(const Execute& request);
  Result<Completion> handle(const AwaitReceive& request);
  // worker_measure.cc
  Result<Measure::Reply> handle(const Measure& request);

 private:
  struct Buffer {
    Memory memory;
    rdma::MemoryRegion region;
  };
  struct Queue {
    rdma::QueuePair pair;
    QueueKind kind;
    std::uint32_t packet_sequence;
    rdma::Flow flow;
    rdma::AddressHandle path;  // UD, made at the first send
  };

  Result<Buffer*> find_buffer(std::uint32_t id);
  Result<process::Connection> find_row_server(const Measure& request);
  Result<Queue*> find_queue(std::uint32_t id);
  // The buffer, if the range lies in it.
  Result<Buffer*> find_range(const Range& range);
  rdma::Endpoint mine(const Queue& queue) const;
  Result<void> post(Queue& queue, const Execute& request, bool signalled = true);
  Result<Completion> await(Queue& queue, bool receive, std::uint32_t milliseconds);

  Gpu gpu_;
  Open opened_;  // what device_ is
  // In the order in which they depend on each other; destroyed in reverse.
  std::unique_ptr<rdma::Device> device_;
  std::uint8_t port_ = 1;
  bool ethernet_ = false;
  bool atomics_ = false;
  rdma::PortAddress address_;
  rdma::ProtectionDomain domain_;
  std::map<std::uint32_t, Buffer> buffers_;
  std::map<std::uint32_t, Queue> queues_;
  std::uint32_t next_id_ = 1;
  // Once something was measured. The server is asked to end before it is waited for.
  std::optional<process::Worker> row_server_;
  std::unique_ptr<perf::Rows> rows_;
};

// Answers requests until the other end closes. 0 then; 1 when the conversation broke.
int serve(Worker& worker, Talk& talk);

}  // namespace gdr::proof
