// PacketQueuePair: one queue pair of this process as the packet transports see it: the
// engine::Owner that finds work, memory and receives in src/stand_ins/rnic.
//
// Everything under the queue pair's send lock; what serves the other side's requests also under its
// responder lock, which marks memory and receives as in use. Hot.
#pragma once

#include <deque>
#include <memory>
#include <optional>
#include <utility>

#include "engine/connection.h"
#include "engine/datagram.h"
#include "net/counters.h"
#include "net/placer.h"
#include "net/port.h"
#include "net/port_filter.h"
#include "net/read_ahead.h"
#include "net/receive_side.h"
#include "rnic/delivery/window_change.h"

namespace gdr::net {

// Room for payloads of packets that are made together. Most need none.
class PayloadRoom {
 public:
  std::size_t room() const { return kMostBurstBytes - used_; }
  // Null: all of it is taken.
  std::byte* take(std::size_t bytes) {
    if (bytes > kMostBurstBytes - used_) return nullptr;
    if (memory_ == nullptr) memory_ = std::make_unique<std::byte[]>(kMostBurstBytes);
    return memory_.get() + std::exchange(used_, used_ + bytes);
  }

 private:
  std::unique_ptr<std::byte[]> memory_;
  std::size_t used_ = 0;
};

class PacketQueuePair final : public rnic::CarrierState, private engine::Owner {
 public:
  // `due`: gets the completion queues that receive()'s caller is to tell an event of.
  // `peer`: the address that packets to the other end have.
  PacketQueuePair(rnic::Adapter& adapter, rnic::QueuePair& queue_pair, const wire::Address& peer,
                  Counters& counters, PinnedPool& pool, Placer& placer,
                  std::vector<std::uint32_t>& due);
  ~PacketQueuePair() override;

  rnic::QueuePair& queue_pair() { return queue_pair_; }
  // Which of its device's addresses packets leave from; of a connection, the only one that it takes
  // packets at.
  std::uint32_t own_address() const { return own_address_; }
  // Connected queue pairs only.
  const wire::Address& peer_address() const { return peer_address_; }
  std::uint8_t traffic_class() const { return traffic_class_; }
  // Where the peer is. `private_port`: this side's.
  void set_flow(const KnownFlow& flow, std::uint16_t private_port) {
    flow_ = flow;
    if (flow.place == PeerPlace::kOwnAccount) source_port_ = private_port;
  }
  const KnownFlow& flow() const { return flow_; }
  // Whether that long has passed since it was so last.
  bool may_ask(Nanoseconds time, Nanoseconds span) {
    if (asked_at_ != 0 && time - asked_at_ < span) return false;
    asked_at_ = time;
    return true;
  }
  // That packets leave from.
  std::uint16_t source_port() const { return source_port_; }
  engine::Connection* connection() { return connection_ ? &*connection_ : nullptr; }

  // Work has been posted: makes the connection ready to send, once. `room`: bytes that may be under
  // way.
  void start_sending(std::uint32_t room);
  // A packet for this queue pair, from that address to that one.
  void receive(const wire::Packet& packet, const wire::Address& source, const wire::Address& target,
               Nanoseconds time, bool congested);
  // True, once, if a receive has completed since it was asked last.
  bool take_received() { return std::exchange(received_, false); }
  // Unless bytes are still on their way into its memory.
  void release_responder();
  // --- GPU memory (packet_placing.cc, packet_reading.cc).
  // Whether bytes are on their way into its memory or out of it, or something waits for them.
  bool is_moving() const { return is_placing() || is_copying() || waits_for_bytes_; }
  // Tells and completes all that waited for bytes that are in place now. `due` gets the completion
  // queues that the caller is to tell an event of. True: more waits.
  bool settle(Nanoseconds time, std::vector<std::uint32_t>& due);
  // Returns when no byte moves and all ends are told.
  void finish_moving();
  // The transport is about to be asked for packets.
  void begin_polling() { waits_for_bytes_ = false; }
  // The packets that gather() was asked for have left.
  void packets_have_left();
  // Work has been posted that PacketPath::move() is to look at.
  void set_posted() { posted_ = true; }
  bool take_posted() { return std::exchange(posted_, false); }
  // Whether the progress thread has it among those that it looks at for their timers.
  bool is_timed() const { return timed_; }
  void set_timed(bool timed) { timed_ = timed; }
  // Whether it is in the path's list of those whose copies go on.
  bool is_looked_after() const { return looked_after_; }
  void set_looked_after(bool looked_after) { looked_after_ = looked_after; }

  // The front request of a UD queue pair as a packet.
  void build_datagram(engine::Transmit* transmit);
  // What a packet carries, right after poll_transmit gave it: how many pieces were filled in.
  // Nothing: the memory is gone. What the CPU may not touch is copied to `payload_room`.
  std::optional<std::uint32_t> gather(const engine::Transmit& transmit, std::span<iovec> pieces,
                                      PayloadRoom& payload_room);

 private:
  bool work(std::uint32_t index, engine::Work* work) override;
  void complete(engine::Status status) override;
  bool place_response(std::uint32_t index, std::uint64_t offset,
                      std::span<const std::byte> bytes) override;
  std::optional<engine::Status> carry_out_local() override;
  bool may_access(std::uint32_t rkey, std::uint64_t address, std::uint64_t length,
                  engine::Right right) override;
  bool select_srq(std::uint32_t xrc_srq) override;
  engine::Placed write(std::uint32_t rkey, std::uint64_t address,
                       std::span<const std::byte> bytes) override;
  std::optional<std::uint64_t> atomic(engine::WorkKind kind, std::uint32_t rkey,
                                      std::uint64_t address, std::uint64_t swap_or_add,
                                      std::uint64_t compare) override;
  engine::Placed begin_receive(std::uint32_t xrc_srq) override;
  engine::Placed place_receive(std::uint64_t offset, std::span<const std::byte> bytes) override;
  void complete_receive(const engine::Received& received) override;
  bool may_invalidate(std::uint32_t key) override;
  std::optional<std::uint32_t> receives_waiting() override { return receives_.waiting(); }
  void fail(engine::Fault fault) override;
  void count(engine::Event event) override;

  std::uint64_t pieces_taken() override { return last_piece_; }
  std::uint64_t pieces_placed() override { return placer_.placed(); }
  std::uint64_t lost_piece() override { return loss_.load(std::memory_order_relaxed); }

  bool has_bytes(const engine::Transmit& transmit) override;

  struct DeferredReceive {
    Placer::Ticket piece;
    ReceiveSide::Completed completed;
  };
  struct DeferredWork {
    Placer::Ticket piece;
    engine::Status status;
  };
  // The work's index in the send ring, where completed ones may still stand.
  std::uint32_t ring_index(std::uint32_t index) const {
    if (deferred_works_.empty()) [[likely]] {
      return index;
    }
    return index + static_cast<std::uint32_t>(deferred_works_.size());
  }
  bool is_lost(Placer::Ticket piece) const {
    return loss_.load(std::memory_order_relaxed) <= piece;
  }
  void finish_work(engine::Status status);
  bool store(const rnic::Place& place, std::span<const std::byte> bytes, bool joins, bool in_turn);
  bool store_later(const rnic::Place& place, std::span<const std::byte> bytes, bool joins);
  bool is_placing() const;
  bool is_copying() const { return works_ahead_.is_copying() || answers_ahead_.is_copying(); }
  void tell_placed(std::vector<std::uint32_t>* due);
  void end_long_hold(Nanoseconds time, std::vector<std::uint32_t>& due);
  // The request that the transport means, where completed ones may still stand before it.
  const rnic::SendRequest& request_of(const engine::Transmit& transmit) {
    return queue_pair_.send_ring().peek(ring_index(transmit.work));
  }
  ReadAhead::Position position_of(const engine::Transmit& transmit) const;
  ReadAhead& ahead_of(const engine::Transmit& transmit) {
    return transmit.source == engine::Source::kRegion ? answers_ahead_ : works_ahead_;
  }
  template <typename Take>
  bool visit_payload(const engine::Transmit& transmit, const Take& take);
  ReadAhead::Found find_bytes(const engine::Transmit& transmit);
  void read_ahead(const engine::Transmit& transmit);
  void read_works_ahead(std::uint64_t current);
  bool read_segment_ahead(const rnic::SendRequest& request);
  void read_answer_ahead(const engine::Transmit& transmit);
  // The places of one packet's bytes, between has_bytes() and gather().
  struct FoundBytes {
    ReadAhead::Position position;
    std::uint32_t bytes;
    std::uint32_t count;  // 0: nothing is known
    std::array<iovec, rnic::kMaxSegments + 1> pieces;
  };
  std::size_t read_piece(ReadAhead& ahead, const rnic::Place& place, std::size_t bytes);

  bool hold_responder() { return holds_responder_ || hold_responder(now()); }
  bool hold_responder(Nanoseconds time);
  bool find_remote(std::uint32_t rkey, std::uint64_t address, std::uint64_t length,
                   engine::Right right, rnic::Place* place);

  rnic::Adapter& adapter_;
  rnic::QueuePair& queue_pair_;
  Counters& counters_;
  ReceiveSide receives_;
  std::vector<std::uint32_t>& due_;  // of what arrives
  std::uint32_t own_address_ = rnic::kOwnAddress;
  wire::Address peer_address_{};
  std::uint8_t traffic_class_ = 0;
  KnownFlow flow_;
  Nanoseconds asked_at_ = 0;
  std::uint16_t source_port_ = wire::kRocePort;
  std::optional<engine::Connection> connection_;
  std::optional<engine::Datagram> datagram_;
  bool sends_ = false;
  bool holds_responder_ = false;
  Nanoseconds impatient_until_ = 0;  // its responder lock was not to be had
  bool received_ = false;
  bool posted_ = false;
  bool timed_ = false;
  bool looked_after_ = false;
  rnic::WindowChange window_;
  Placer& placer_;
  Placer::Ticket last_piece_ = 0;     // of this queue pair
  Placer::Ticket last_response_ = 0;  // the same, of a response
  Placer::Loss loss_{Placer::kNone};
  std::deque<DeferredReceive> deferred_receives_;
  std::deque<DeferredWork> deferred_works_;
  bool requests_failed_ = false;  // a response was lost: what the transport says is over
  bool begins_write_ = false;     // with the next bytes of an RDMA write
  ReadAhead works_ahead_, answers_ahead_;
  FoundBytes found_{};
  std::uint64_t ended_works_ = 0;      // taken off the send ring
  bool waits_for_bytes_ = false;       // the next packet does
  bool answer_ends_ = false;           // with a packet that is about to leave
  Nanoseconds held_since_ = 0;         // the responder lock, by what moves
  std::uint32_t xrc_srq_ = 0;          // of the message that is being received
  wire::Address source_{}, target_{};  // of the packet
};

wire::Transport transport_of(ibv_qp_type type);  // of one that sends packets

// Which of the device's addresses packets leave from for whoever sends from that one: itself, or
// the device's own if no interface has it.
std::uint32_t sending_address(const rnic::DeviceConfiguration& device, std::uint32_t address);

// 256 to 4096.
constexpr std::uint32_t bytes_of(ibv_mtu mtu) { return 128u << static_cast<unsigned>(mtu); }

}  // namespace gdr::net
