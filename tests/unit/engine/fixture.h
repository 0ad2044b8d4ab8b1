// What the tests of packet transports share: an owner made of plain arrays, packets made by hand,
// and a connection into which they go one by one.
#pragma once

#include <gtest/gtest.h>

#include <cstring>
#include <deque>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "engine/connection.h"

namespace gdr::engine::test {

using wire::Operation;

constexpr std::uint32_t kKey = 7;
constexpr std::uint64_t kBase = 0x10000;
constexpr std::uint64_t kRegionBytes = 1 << 16;
constexpr std::uint32_t kWindow = 99;  // a memory window's key
constexpr std::uint32_t kSrq = 5;
constexpr std::uint32_t kMtu = 256;
constexpr std::uint32_t kPeer = 0x123;

inline std::vector<std::byte> bytes(std::size_t n, int seed = 1) {
  std::vector<std::byte> made(n);
  for (std::size_t i = 0; i < n; ++i) {
    made[i] = static_cast<std::byte>(static_cast<std::size_t>(seed) * 31 + i * 7);
  }
  return made;
}

struct Placement {
  std::uint64_t at;
  std::uint64_t length;
  bool operator==(const Placement&) const = default;
};

class FakeOwner final : public Owner {
 public:
  bool work(std::uint32_t index, Work* work) override {
    if (index >= works.size()) return false;
    *work = works[index];
    return true;
  }
  void complete(Status status) override {
    ASSERT_FALSE(works.empty());
    works.pop_front();
    completed.push_back(status);
  }
  bool place_response(std::uint32_t index, std::uint64_t offset,
                      std::span<const std::byte> given) override {
    EXPECT_EQ(index, 0u);
    responses.push_back({offset, given.size()});
    if (given.size() == 8) std::memcpy(&atomic_result, given.data(), 8);
    return responses_fit;
  }
  std::optional<Status> carry_out_local() override {
    ++locals;
    if (local_waits) return std::nullopt;
    return local_status;
  }
  bool may_access(std::uint32_t rkey, std::uint64_t address, std::uint64_t length,
                  Right right) override {
    return rkey == kKey && rights.contains(static_cast<int>(right)) && address >= kBase &&
           length <= kRegionBytes && address - kBase <= kRegionBytes - length;
  }
  Placed write(std::uint32_t rkey, std::uint64_t address,
               std::span<const std::byte> given) override {
    if (write_result != Placed::kPlaced) return write_result;
    if (!may_access(rkey, address, given.size(), Right::kWrite)) return Placed::kRefused;
    std::memcpy(&region[address - kBase], given.data(), given.size());
    writes.push_back({address, given.size()});
    if (loses_at_once) taken = in_place = lost = 1;
    return Placed::kPlaced;
  }
  std::optional<std::uint64_t> atomic(WorkKind kind, std::uint32_t rkey, std::uint64_t address,
                                      std::uint64_t swap_or_add, std::uint64_t compare) override {
    if (!may_access(rkey, address, 8, Right::kAtomic)) return std::nullopt;
    std::uint64_t before;
    std::memcpy(&before, &region[address - kBase], 8);
    std::uint64_t after = before + swap_or_add;
    if (kind == WorkKind::kCompareSwap) after = before == compare ? swap_or_add : before;
    std::memcpy(&region[address - kBase], &after, 8);
    ++atomics;
    return before;
  }
  Placed begin_receive(std::uint32_t xrc_srq) override {
    last_srq = xrc_srq;
    if (receive_result != Placed::kPlaced) return receive_result;
    return receives.empty() ? Placed::kNoReceive : Placed::kPlaced;
  }
  Placed place_receive(std::uint64_t offset, std::span<const std::byte> given) override {
    if (offset + given.size() > receives.front()) return Placed::kTooLong;
    placed.push_back({offset, given.size()});
    return Placed::kPlaced;
  }
  void complete_receive(const Received& done) override {
    received.push_back(done);
    if (!receives.empty()) receives.pop_front();
  }
  bool select_srq(std::uint32_t srq) override {
    selected.push_back(srq);
    return srq == kSrq;
  }
  bool may_invalidate(std::uint32_t key) override { return key == kWindow; }
  std::optional<std::uint32_t> receives_waiting() override {
    if (shared) return std::nullopt;
    return static_cast<std::uint32_t>(receives.size());
  }
  void fail(Fault fault) override {
    EXPECT_FALSE(failure.has_value());
    failure = fault;
  }
  void count(Event event) override { ++events[event]; }
  std::uint64_t pieces_taken() override { return taken; }
  std::uint64_t pieces_placed() override { return in_place; }
  std::uint64_t lost_piece() override { return lost; }
  bool has_bytes(const Transmit&) override { return bytes_are_here; }

  // Pieces that are placed later.
  std::uint64_t taken = 0, in_place = 0, lost = kNothingLost;
  bool loses_at_once = false;  // the bytes of a write
  bool bytes_are_here = true;
  std::deque<Work> works;
  std::vector<Status> completed;
  std::vector<Placement> responses;
  std::uint64_t atomic_result = 0;
  bool responses_fit = true;
  int locals = 0;
  bool local_waits = false;
  Status local_status = Status::kSuccess;

  std::vector<std::byte> region = std::vector<std::byte>(kRegionBytes);
  std::map<int, bool> rights = {{0, true}, {1, true}, {2, true}};
  std::vector<Placement> writes;
  Placed write_result = Placed::kPlaced;
  int atomics = 0;

  std::deque<std::uint64_t> receives;  // how many bytes each takes
  bool shared = true;
  Placed receive_result = Placed::kPlaced;
  std::uint32_t last_srq = 0;
  std::vector<std::uint32_t> selected;
  std::vector<Placement> placed;
  std::vector<Received> received;
  std::optional<Fault> failure;
  std::map<Event, int> events;
};

// One connection; what it wants sent is read packet by packet.
class Link : public testing::Test {
 protected:
  explicit Link(wire::Transport transport = wire::Transport::kReliableConnection) {
    settings.transport = transport;
    settings.path_mtu = kMtu;
    settings.destination_qp = kPeer;
    settings.receive_psn = 100;
    settings.responder_resources = 2;
    sending.first_psn = 500;
    sending.timeout = 67 * kMillisecond;
    sending.most_in_flight = 64 * (kMtu + 64) * 2;  // half of it at first
  }

  Connection& connection() {
    if (!made) {
      made.emplace(settings, owner);
      made->start_sending(sending);
    }
    return *made;
  }
  wire::Packet packet(Operation operation, std::uint32_t psn) {
    wire::Packet packet{};
    packet.opcode = wire::make_opcode(settings.transport, operation);
    packet.info = wire::find_opcode(packet.opcode);
    EXPECT_NE(packet.info, nullptr);
    packet.psn = psn & wire::kPsnMask;
    packet.partition_key = wire::kDefaultPartitionKey;
    packet.xrc_srq = kSrq;
    return packet;
  }
  wire::Packet with_payload(Operation operation, std::uint32_t psn, std::size_t size,
                            bool ask = true) {
    wire::Packet made_packet = packet(operation, psn);
    payloads.push_back(bytes(size, static_cast<int>(psn)));
    made_packet.payload = payloads.back();
    made_packet.pad = static_cast<std::uint8_t>(-size & 3);
    made_packet.ack_request = ask;
    return made_packet;
  }
  wire::Packet write(Operation operation, std::uint32_t psn, std::size_t size, std::uint32_t length,
                     bool ask = true) {
    wire::Packet made_packet = with_payload(operation, psn, size, ask);
    made_packet.reth = {kBase, kKey, length};
    return made_packet;
  }
  wire::Packet read(std::uint32_t psn, std::uint32_t length, std::uint64_t offset = 0) {
    wire::Packet made_packet = packet(Operation::kReadRequest, psn);
    made_packet.reth = {kBase + offset, kKey, length};
    return made_packet;
  }
  wire::Packet atomic(Operation operation, std::uint32_t psn, std::uint64_t swap_or_add,
                      std::uint64_t compare = 0) {
    wire::Packet made_packet = packet(operation, psn);
    made_packet.atomic = {kBase, kKey, swap_or_add, compare};
    return made_packet;
  }
  wire::Packet ack(std::uint32_t psn, std::uint8_t code = wire::kNoCredits, std::uint32_t msn = 0) {
    wire::Packet made_packet = packet(Operation::kAcknowledge, psn);
    made_packet.aeth = {wire::make_syndrome(wire::Acknowledge::kAck, code), msn};
    return made_packet;
  }
  wire::Packet nak(std::uint32_t psn, wire::NakCode code) {
    wire::Packet made_packet = packet(Operation::kAcknowledge, psn);
    made_packet.aeth = {
        wire::make_syndrome(wire::Acknowledge::kNak, static_cast<std::uint8_t>(code)), 0};
    return made_packet;
  }
  wire::Packet rnr(std::uint32_t psn, std::uint8_t timer = 1) {
    wire::Packet made_packet = packet(Operation::kAcknowledge, psn);
    made_packet.aeth = {wire::make_syndrome(wire::Acknowledge::kRnrNak, timer), 0};
    return made_packet;
  }
  wire::Packet response(Operation operation, std::uint32_t psn, std::size_t size) {
    wire::Packet made_packet = with_payload(operation, psn, size, false);
    made_packet.aeth = {wire::make_syndrome(wire::Acknowledge::kAck, wire::kNoCredits), 0};
    return made_packet;
  }

  void receive(const wire::Packet& given, bool congested = false) {
    connection().receive(given, now, congested);
  }
  std::optional<Transmit> poll() {
    Transmit transmit{};
    if (!connection().poll_transmit(now, &transmit)) return std::nullopt;
    return transmit;
  }
  // All that it wants sent, as text: "Acknowledge 103" ...
  std::vector<Transmit> drain() {
    std::vector<Transmit> all;
    while (std::optional<Transmit> transmit = poll()) all.push_back(*transmit);
    return all;
  }
  std::vector<std::uint32_t> psns() {
    std::vector<std::uint32_t> found;
    for (const Transmit& transmit : drain()) found.push_back(transmit.packet.psn);
    return found;
  }
  // Time passes to the next timer.
  bool jump() {
    const Nanoseconds next = connection().next_timeout();
    if (next == kNever) return false;
    now = std::max(now, next);
    connection().handle_timeout(now);
    return true;
  }
  void post(const Work& work) {
    owner.works.push_back(work);
    connection().posted(now);
  }
  Work work(WorkKind kind, std::uint64_t length) {
    Work made_work;
    made_work.kind = kind;
    made_work.length = length;
    made_work.rkey = kKey;
    made_work.remote_address = kBase;
    made_work.xrc_srq = kSrq;
    return made_work;
  }

  void expect_ack(const std::optional<Transmit>& sent, std::uint32_t psn, std::uint32_t msn) {
    ASSERT_TRUE(sent);
    EXPECT_EQ(sent->packet.operation(), Operation::kAcknowledge);
    EXPECT_EQ(wire::acknowledge_of(sent->packet.aeth.syndrome), wire::Acknowledge::kAck);
    EXPECT_EQ(sent->packet.psn, psn);
    EXPECT_EQ(sent->packet.aeth.msn, msn);
    EXPECT_EQ(sent->packet.destination_qp, kPeer);
  }
  void expect_nak(const std::optional<Transmit>& sent, std::uint32_t psn, wire::NakCode code) {
    ASSERT_TRUE(sent);
    EXPECT_EQ(sent->packet.operation(), Operation::kAcknowledge);
    EXPECT_EQ(wire::acknowledge_of(sent->packet.aeth.syndrome), wire::Acknowledge::kNak);
    EXPECT_EQ(wire::NakCode(wire::value_of(sent->packet.aeth.syndrome)), code);
    EXPECT_EQ(sent->packet.psn, psn);
  }

  ConnectionSettings settings;
  SendSettings sending;
  FakeOwner owner;
  Nanoseconds now = kSecond;
  std::deque<std::vector<std::byte>> payloads;  // what packets borrow
  std::optional<Connection> made;
};

class RcResponder : public Link {};

using Psns = std::vector<std::uint32_t>;
using Statuses = std::vector<Status>;
constexpr Status kGood = Status::kSuccess;

class RcCompleter : public Link {
 protected:
  void post_writes(int n, std::uint64_t length = 8) {
    for (int i = 0; i < n; ++i) post(work(WorkKind::kWrite, length));
  }
  int count(Event event) { return owner.events[event]; }
};

}  // namespace gdr::engine::test
