// PacketPath: carries requests beyond the host: RoCEv2 packets over UDP, wire-compatible with the
// kernel's rxe and with RDMA NICs.
//
//   post_send -> send() -> Transmitter -> Port
//   poll_cq -> progress() ----+
//   ProgressThread -> serve() +-> Port -> receive -> engine -> completions, answers
//   CopyThread -> move() -> GPU copies -> Transmitter -> Port
//
// Locks, in the order they may be taken: receive_lock_ (what arrives), a queue pair's send lock,
// its responder lock. post_send takes receive_lock_ if it is free, and waits only a moment for it.
// A port's gate, connected_mutex_: innermost.
//
// Threads: whichever polls a completion queue makes progress itself; the progress thread does it
// for programs that do not, and keeps the timers. With GPU memory the progress thread takes what
// arrives and the copy thread copies and sends, so that each direction has a thread.
#pragma once

#include <atomic>
#include <memory>
#include <mutex>
#include <unordered_map>
#include <vector>

#include "base/spin_lock.h"
#include "net/account_ports.h"
#include "net/copy_thread.h"
#include "net/flood_gate.h"
#include "net/general_services.h"
#include "net/group_ports.h"
#include "net/identification.h"
#include "net/local_addresses.h"
#include "net/mad_floods.h"
#include "net/port_sharing.h"
#include "net/progress_thread.h"
#include "net/settings.h"
#include "net/taken_arrivals.h"
#include "net/transmitter.h"
#include "net/udp_port.h"
#include "rnic/adapter.h"

namespace gdr::net {

class PacketPath : public rnic::BeyondCarrier, private MadPorts {
 public:
  // For peers::Host::instance.
  static Result<std::unique_ptr<rnic::BeyondCarrier>> make(rnic::Adapter& adapter);
  ~PacketPath() override;

  // --- rnic::Carrier
  void send(rnic::QueuePair& queue_pair) override;
  void send_later(rnic::QueuePair& queue_pair) override;
  int connect(rnic::QueuePair& queue_pair) override;
  void cancel(rnic::QueuePair& queue_pair) override;

  // --- rnic::BeyondCarrier
  bool takes_everything() const override { return settings_.takes_everything; }
  bool carries_groups(rnic::QueuePair& queue_pair) override;  // packet_groups.cc
  void groups_changed() override;                             // the same
  void serves_memory_of(memory::PeerMemoryClient& client) override;
  bool progress() override;
  void awaits_event() override { thread_->awaits_event(); }
  void process_ended(std::uint32_t slot) override;  // packet_mads.cc
  void prepare_fork() override;
  void parent_of_fork() override;
  void child_of_fork() override;

  // --- Queue pair 1: packet_mads.cc.
  // Opens the device's port, too. What UdpPort::open says, or EAGAIN.
  Result<std::shared_ptr<Gsi>> open_general_services(GsiUser user);
  // 0 or errno: gdr_gsi_send's.
  int send_mad(std::uint32_t device, const Mad& mad);
  GeneralServices& general_services() { return general_services_; }

  // --- Progress thread.
  // Takes what has arrived: how many arrivals. Nothing: another thread is at it.
  std::optional<std::uint32_t> serve();
  // Whether the program's threads take nothing that arrives: see README.md.
  bool leaves_arrivals_to_thread() const { return gpu_is_registered(); }
  // Whether there is work for move() and no copy thread: serve() is to be called again soon.
  bool thread_moves() const { return is_moving() && !has_copy_thread(); }
  // Whether serve() is to be called again soon for what has been put aside.
  bool has_late() const { return has_late_.load(std::memory_order_relaxed); }
  // Lets timers run that are due. When the next one is: kNever if nothing is outstanding.
  Nanoseconds run_timers(Nanoseconds time);
  // Something can be read there: packets, strays, or what has to be taken off all the same.
  void found_readable(int descriptor);

  // --- Copy thread: packet_moving.cc.
  // Whether queue pairs have copies under way whose end no packet tells, or have posted.
  bool is_moving() const { return is_moving_.load(std::memory_order_relaxed); }
  // Copies go on, what has waited for them is told and answered, and what can be sent is, of each
  // queue pair no more than a burst. Needs none of the path's locks.
  void move();

 private:
  struct OpenPort {
    std::uint32_t device, address;  // which of the device's addresses
    std::uint32_t room;             // bytes that may be under way to one like it
    std::uint32_t path_mtu;
    std::uint32_t interface;  // by which groups are reached; 0: by none
    std::unique_ptr<Port> port;
    std::unique_ptr<PortSharing> sharing;
    std::unique_ptr<FloodGate> gate;
  };
  struct Connected {
    std::weak_ptr<rnic::QueuePair> queue_pair;
    std::uint32_t device, address;  // of a connection, the only one that it takes packets at
    KnownFlow flow;
  };
  class Run;
  struct KnownQueuePair {
    std::uint32_t number = 0;
    std::shared_ptr<rnic::QueuePair> queue_pair;
  };

  PacketPath(rnic::Adapter& adapter, Settings settings);
  Result<std::unique_ptr<Port>> wrap(std::unique_ptr<Port> port);
  Result<OpenPort*> open_port(std::uint32_t device, std::uint32_t address);
  void open_other_ports(std::uint32_t device);
  OpenPort* port_of(const rnic::QueuePair& queue_pair, std::uint32_t address);
  OpenPort* port_of(rnic::QueuePair& queue_pair) {
    return port_of(queue_pair, state_of(queue_pair).own_address());
  }
  wire::Address reached_at(std::span<const std::uint8_t, 16> gid, std::uint32_t number);
  static KnownFlow flow_of(const OpenPort& port, const rnic::QueuePair& queue_pair,
                           const wire::Address& peer);
  OpenPort* port_at(std::uint32_t device, const wire::Address& address);
  PortRules rules_of(const OpenPort& port);
  static void place_peer(const OpenPort& port, KnownFlow& flow);
  static bool ask_for_peer(OpenPort& port, PacketQueuePair& state, Nanoseconds time);
  static bool is_from_peer(OpenPort& port, PacketQueuePair& state, const Arrival& arrival,
                           Nanoseconds time);
  void refuse(OpenPort& port, Counter cause, Nanoseconds time);
  static PacketQueuePair& state_of(rnic::QueuePair& queue_pair);
  void pump(rnic::QueuePair& queue_pair, Nanoseconds time,
            std::uint32_t most_bursts = Transmitter::kAll);
  void look_after(rnic::QueuePair& queue_pair);
  bool has_copy_thread() const { return copies_.load(std::memory_order_acquire) != nullptr; }
  void start_copy_thread();
  void move(rnic::QueuePair& queue_pair, Nanoseconds time, std::vector<std::uint32_t>& due);
  void add_moving(std::shared_ptr<rnic::QueuePair> queue_pair);
  void answer(rnic::QueuePair& queue_pair, Nanoseconds time);
  void send_answers(rnic::QueuePair& queue_pair, Nanoseconds time);
  void keep_timers_of(rnic::QueuePair& queue_pair);
  std::vector<std::shared_ptr<rnic::QueuePair>> take_timed();
  // When its next timer is due.
  Nanoseconds next_timer_of(rnic::QueuePair& queue_pair, Nanoseconds time);
  Nanoseconds run_timers(rnic::QueuePair& queue_pair, Nanoseconds time);
  bool has_taken_arrivals();
  void send_datagram(rnic::QueuePair& queue_pair);
  // How many arrivals there were. Nothing: another thread is at it.
  std::optional<std::uint32_t> receive_all(bool inline_progress);
  struct Taken {
    std::uint32_t arrivals = 0;
    bool is_all = true;  // nothing is left
  };
  Taken take_some(bool inline_progress);
  void take(OpenPort& port, const Arrival& arrival, bool inline_progress);
  std::size_t hand_over(OpenPort& port, const Arrival& arrival, std::span<const std::byte> left);
  void take_packet(OpenPort& port, const Arrival& arrival, std::span<const std::byte> bytes,
                   std::uint16_t place, Nanoseconds time, Run& run);
  void take_of_group(GroupPort& group, const Arrival& arrival, bool inline_progress);
  void take_packet_of_group(GroupPort& group, const Arrival& arrival,
                            std::span<const std::byte> bytes, std::uint16_t place, Run& run);
  void take_mad(OpenPort& port, const Arrival& arrival, const wire::Packet& packet,
                Nanoseconds time);
  int send_mad(OpenPort& port, const Mad& mad, bool is_local);
  // The private ports of this account's processes there; remembers them.
  std::vector<std::uint16_t> account_ports_at(const OpenPort& port, const wire::Address& address);
  void answer_mad(std::uint32_t device, const Mad& mad) override;
  int pass_on(const ArrivedMad& arrived, std::uint32_t slot) override;
  bool is_forged(const ArrivedMad& arrived) override;
  void listeners_changed(std::uint32_t device) override;
  const std::shared_ptr<rnic::QueuePair>& queue_pair(std::uint32_t number);
  void deliver(OpenPort& port, const Arrival& arrival, const wire::Packet& packet, Nanoseconds time,
               Run& run);
  std::uint32_t take_late();
  void tell_events(std::vector<std::uint32_t>& due);
  void answer_all(std::vector<std::shared_ptr<rnic::QueuePair>>& waiting);
  // Before something leaves by that queue pair; null: by none that acknowledges.
  void answer_before(const rnic::QueuePair* sender);
  void answer_others_than(const rnic::QueuePair* sender);
  bool gpu_is_registered() const { return adapter_.regions().has_served(); }

  rnic::Adapter& adapter_;
  Counters& counters_;
  const Settings settings_;
  Transmitter transmitter_;
  PinnedPool pinned_pool_;
  Placer placer_{pinned_pool_};
  SpinLock moving_lock_;
  // Whose copies go on, or who has posted; under moving_lock_.
  std::vector<std::shared_ptr<rnic::QueuePair>> moving_;
  std::atomic<bool> is_moving_{false};      // whether there are any
  std::mutex open_mutex_;                   // opening ports: cold
  std::atomic<std::size_t> port_count_{0};  // ports_[0 .. count) are there for good
  std::array<OpenPort, std::size_t{rnic::kDevices} * rnic::kAddresses> ports_;
  std::mutex
      groups_mutex_;   // changes of what groups_ is to hold, from the look on; before open_mutex_
  GroupPorts groups_;  // changed under open_mutex_
  std::mutex connected_mutex_;
  std::unordered_map<std::uint32_t, Connected> connected_;  // by number
  std::size_t connected_to_purge_ = kLeastPurged;  // so many, and the expired ones are taken out
  static constexpr std::size_t kLeastPurged = 64;

  // Connections that a timer runs for or that have been posted to, so that idle ones cost nothing.
  // Some more than once.
  SpinLock timed_lock_;  // innermost
  std::vector<std::weak_ptr<rnic::QueuePair>> timed_;

  GeneralServices general_services_;
  LocalAddresses local_addresses_;
  AccountPorts account_ports_;
  std::atomic<std::uint32_t> next_mad_psn_;
  MadFloods mad_floods_;

  SpinLock receive_lock_;
  std::array<KnownQueuePair, 64> known_;                    // under receive_lock_
  Nanoseconds arrived_at_ = 0;                              // the last packet
  std::uint64_t known_at_ = 0;                              // queue pairs destroyed by then
  Identifications identifications_;                         // under receive_lock_
  static constexpr std::size_t kMostWaiting = 64;           // answers, and late acknowledges
  std::vector<std::shared_ptr<rnic::QueuePair>> answers_;   // who has to answer; the same
  std::vector<std::shared_ptr<rnic::QueuePair>> deferred_;  // who does once the program polls
  static constexpr Nanoseconds kMostPutOff = kMillisecond;  // an acknowledge
  std::vector<std::uint32_t> due_;  // completion queues with an event, under receive_lock_
  // Acknowledges whose queue pair was sending just then; under receive_lock_.
  struct LateAcknowledge {
    OpenPort* port;
    Arrival arrival;  // without its bytes
    std::size_t length;
    std::array<std::byte, wire::kMostHeaderBytes + wire::kIcrcBytes> bytes;
  };
  std::vector<LateAcknowledge> late_;
  std::atomic<bool> has_late_{false};
  // deferred_ is not empty. Set before the thread's time is looked at, and looked at by the thread
  // after it has forgotten that time: one of the two sees the other.
  std::atomic<bool> puts_off_{false};
  TakenArrivals taken_;
  std::unique_ptr<ProgressThread> thread_;
  std::unique_ptr<CopyThread> copy_thread_;   // under connected_mutex_
  std::atomic<CopyThread*> copies_{nullptr};  // the same, once it runs
};

}  // namespace gdr::net
