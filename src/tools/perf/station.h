// Station: what one thread of one side works with: its memory, completion queues and queue pairs,
// connected to those of one thread of the other side.
//
//   Result<std::unique_ptr<Station>> station = Station::create(devices, plan);
//   tell(station->address());
//   station->connect(their_address);
//   for (Station::Queue& queue : station->queues()) ibv_post_send(queue.sender, ...);
//
// Created and destroyed by the side's main thread; used by one thread at a time.
#pragma once

#include <memory>
#include <span>
#include <string>
#include <vector>

#include "participants/memory.h"
#include "perf/devices.h"
#include "perf/layout.h"
#include "perf/messages.h"
#include "perf/stage.h"
#include "rdma/manager.h"

namespace gdr::perf {

struct StationPlan {
  Load load;
  Place place;  // of this side: load.near or load.far
  std::uint64_t largest = 0;
  ibv_mtu mtu = IBV_MTU_1024;
  std::uint32_t queue_pairs = 1;  // of this station
  bool is_client = true;

  Layout layout() const { return make_layout(load, largest, queue_pairs); }
};

class Station {
 public:
  struct Queue {
    // What the loops read and count, first: one line of the cache.
    ibv_qp* sender = nullptr;
    std::uint64_t posted = 0, completed = 0;   // requests
    std::uint64_t outgoing = 0, incoming = 0;  // addresses of this side's places
    std::uint64_t remote = 0;                  // of the other side's incoming places
    std::uint32_t unsignaled = 0;              // the last requests
    ibv_qp* receiver = nullptr;                // the same one, but for XRC
    ibv_ah* path = nullptr;                    // UD
    std::uint32_t remote_number = 0;
    std::uint32_t remote_shared_receives = 0;  // XRC
    std::uint32_t packet_sequence = 0;
  };

  static Result<std::unique_ptr<Station>> create(Devices& devices, const StationPlan& plan);
  ~Station();

  StationAddress address() const;
  Result<void> connect(const StationAddress& theirs, const GoOn& go_on = {});

  const StationPlan& plan() const { return plan_; }
  const Layout& layout() const { return layout_; }
  std::span<Queue> queues() { return queues_; }
  // By the number in a completion. Null: of no queue pair here.
  Queue* find(std::uint32_t receiver_number);
  ibv_cq* send_queue() const { return send_queue_.get(); }
  ibv_cq* receive_queue() const { return receive_queue_.get(); }
  ibv_srq* shared_receives() const { return shared_receives_.get(); }
  std::uint32_t lkey() const { return region_->lkey; }
  std::uint32_t rkey() const { return remote_rkey_; }
  std::uint32_t inline_bytes() const { return inline_bytes_; }
  std::uint32_t receives() const { return receives_; }  // of one queue, or of the shared one
  std::uint64_t registered_bytes() const { return memory_->size(); }
  const Devices& devices() const { return devices_; }

  participants::Memory& memory() { return *memory_; }
  const cuda::Driver* driver() const { return gpu_ ? gpu_->driver : nullptr; }
  participants::Memory* staged() { return staged_ ? &*staged_ : nullptr; }  // the GPU's, of kStaged
  // Where messages come from and lie in the end, at the same offsets as in memory().
  participants::Memory& data() { return staged_ ? *staged_ : *memory_; }
  // Offset within memory() of an address in it.
  std::uint64_t offset(std::uint64_t address) const { return address - memory_->address(); }
  // A poll that finds nothing lets other threads have the processor.
  bool gives_way() const { return gives_way_; }
  // The GPU's context becomes current in the calling thread.
  Result<void> enter();

  // Sleeps until one of both queues has a completion, but not much longer than a millisecond. Only
  // where load.events.
  Result<void> sleep();

 private:
  Station(Devices& devices, const StationPlan& plan);
  Result<void> allocate();
  Result<void> register_memory();
  Result<void> make_queues();
  Result<void> make_completion_queues();
  Result<void> make_shared_receives();
  Result<void> make_queue(Queue& queue);
  Result<ibv_qp*> make_pair(ibv_qp_type type);
  Result<void> listen();
  Result<void> connect_by_manager(const StationAddress& theirs, const GoOn& go_on);
  Result<void> connect_queue(Queue& queue, const rdma::Endpoint& side, const QueueAddress& theirs);
  rdma::States states(ibv_qp_type type) const;

  Devices& devices_;
  const StationPlan plan_;
  const Layout layout_;
  const bool gives_way_;
  std::optional<participants::Gpu> gpu_;
  std::optional<participants::Memory> memory_, staged_;
  std::shared_ptr<void> pinned_;
  rdma::MemoryRegion region_;
  std::uint32_t remote_rkey_ = 0;
  std::uint32_t inline_bytes_ = 0, receives_ = 0, waiting_events_ = 0;
  rdma::Owned<ibv_comp_channel> channel_;
  rdma::CompletionQueue send_queue_, receive_queue_;
  rdma::Owned<ibv_xrcd> xrc_domain_;
  rdma::Owned<ibv_srq> shared_receives_;
  std::vector<rdma::Owned<ibv_qp>> pairs_;
  std::vector<rdma::AddressHandle> paths_;
  std::optional<rdma::Manager> manager_;  // of load.rdma_cm; ends before the queue pairs
  std::uint16_t manager_port_ = 0;
  std::vector<Queue> queues_;
  std::vector<std::pair<std::uint32_t, std::uint32_t>> by_number_;  // sorted: number, index
};

ibv_qp_type type_of(Transport transport);

}  // namespace gdr::perf
