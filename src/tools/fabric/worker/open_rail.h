// OpenRail: a port of a NIC with memory behind it and two queue pairs, one that sends and one that
// receives. They are made once, and connected anew in each round. Used by one thread, its own, in
// which the GPU's context is current.
//
//   Result<std::unique_ptr<OpenRail>> rail = OpenRail::open(planned, libraries, settings);
//   (*rail)->connect(round, part, result);     // everybody else has prepared its memory before ...
//   (*rail)->prove(bounds, result);            // ... anybody writes
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <vector>

#include "base/result.h"
#include "fabric/messages.h"
#include "fabric/worker/bounds.h"
#include "fabric/worker/rails.h"
#include "fabric/worker/transfer.h"
#include "participants/gpu.h"
#include "participants/libraries.h"
#include "participants/memory.h"
#include "rdma/device.h"
#include "rdma/queue_pair.h"
#include "rdma/resources.h"

namespace gdr::fabric::worker {

class OpenRail {
 public:
  // open_rail.cc
  static Result<std::unique_ptr<OpenRail>> open(const PlannedRail& planned,
                                                const participants::Libraries& libraries,
                                                const Settings& settings);
  RailAddress address() const;

  // Prepares the memory and both queue pairs. An error of either is the result's code.
  void connect(std::uint32_t round, const Part& part, RailResult& result);
  // Takes part in no round: what is sent to it is refused.
  void rest();

  // open_rail_steps.cc. After an error of a direction its later steps of the round end with it at
  // once.
  void prove(const Bounds& bounds, RailResult& result);
  void measure_latency(const Bounds& bounds, RailResult& result);
  void measure_bandwidth(const Bounds& bounds, RailResult& result);

 private:
  OpenRail(const PlannedRail& planned, const Settings& settings)
      : planned_(planned), settings_(settings) {}

  Result<void> open_devices(const participants::Libraries& libraries);
  Result<void> make_memory();
  Result<void> make_queue_pairs();

  Result<void> reset(rdma::QueuePair& pair);
  Result<void> bring_up(rdma::QueuePair& pair, std::uint32_t far_number, const RailAddress& far,
                        std::uint32_t sequence, std::uint32_t far_sequence);
  Result<void> prepare_incoming();
  Result<void> connect_outgoing();
  Result<void> connect_incoming();

  Result<void> post(ibv_wr_opcode opcode, std::uint64_t local, std::uint64_t remote,
                    std::uint64_t bytes, bool signalled = true);
  Error error_of(const ibv_wc& completion) const;
  // A completion if there is one now; an error where it, or the call, failed.
  Result<bool> reap(bool receive);
  // Waits for the next completion of what was sent.
  Result<void> await_sent(const Bounds& bounds);

  Result<void> start_sending();
  void exchange(const Bounds& bounds, bool sends, bool receives, RailResult& result);
  Result<participants::Damage> look();
  Result<double> latency(const Bounds& bounds);
  Result<double> bandwidth(const Bounds& bounds);

  const PlannedRail planned_;
  const Settings settings_;
  participants::Gpu gpu_;
  // In the order in which they depend on each other; destroyed in reverse.
  std::unique_ptr<rdma::Device> device_;
  ibv_port_attr port_{};
  rdma::PortAddress port_address_;
  rdma::ProtectionDomain domain_;
  std::optional<participants::Memory> memory_;
  rdma::MemoryRegion region_;
  std::optional<rdma::QueuePair> outgoing_, incoming_;

  std::uint32_t requests_ = 1;         // that a send queue holds
  std::uint32_t depth_ = 1;            // messages under way
  std::uint64_t message_bytes_ = 0;    // of one, in the measurement
  std::uint64_t outgoing_offset_ = 0;  // in the memory, behind guard, incoming and guard
  std::vector<std::byte> scratch_;     // the owner's view of incoming with its guards
  std::vector<std::byte> expected_;
  std::vector<std::uint32_t> samples_;  // nanoseconds

  // Of the round that is connected.
  Part part_;
  Transfer sent_, received_;
  std::optional<Error> send_problem_, receive_problem_;
};

}  // namespace gdr::fabric::worker
