// Any packets in any order, to a connection (RC, XRC, UC) or a datagram queue pair (UD): no byte
// outside what was granted is touched, every work completes at most once, and after an error there
// is silence.
//
// Input: a byte of settings, then steps: a byte that says which, and what it needs. Packets are
// made in sequence or beside it, taken from the bytes as they are, or come twice.
#include <algorithm>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <deque>
#include <memory>
#include <vector>

#include "engine/connection.h"
#include "engine/datagram.h"
#include "input.h"

namespace {

using namespace gdr::engine;
using gdr::Nanoseconds;
using gdr::test::Input;
using gdr::test::require;
namespace wire = gdr::wire;

constexpr std::uint32_t kKey = 7;
constexpr std::uint64_t kBase = 0xffff'ffff'ffff'0000;  // its end is the end of all addresses
constexpr std::uint64_t kRegionBytes = 0x4000;
constexpr std::uint32_t kFirstReceived = 0xffffff;
constexpr std::uint32_t kFirstSent = 0xfffffe;

struct Range {
  std::uint64_t begin = 0, bytes = 0;
  bool holds(std::uint64_t at, std::uint64_t n) const {
    return at - begin <= bytes && n <= bytes - (at - begin);
  }
};

class BoundedOwner final : public Owner {
 public:
  bool work(std::uint32_t index, Work* work) override {
    if (index >= works.size()) return false;
    *work = works[index];
    return true;
  }
  void complete(Status status) override {
    require(!works.empty() && !ended && !failed);
    works.pop_front();
    ended = status != Status::kSuccess;
  }
  bool place_response(std::uint32_t index, std::uint64_t offset,
                      std::span<const std::byte> bytes) override {
    require(index < works.size() && !ended && !failed);
    require(offset + bytes.size() <= works[index].length);
    return (offset & 0x700) != 0x700;
  }
  // Each has to wait at first.
  std::optional<Status> carry_out_local() override {
    local_waits = !local_waits;
    if (local_waits) return std::nullopt;
    return Status::kSuccess;
  }
  bool may_access(std::uint32_t rkey, std::uint64_t address, std::uint64_t length,
                  Right right) override {
    require(!failed);
    if (rkey != kKey || !Range{kBase, kRegionBytes}.holds(address, length)) return false;
    if (right == Right::kWrite) granted = {address, length};
    return true;
  }
  Placed write(std::uint32_t rkey, std::uint64_t address,
               std::span<const std::byte> bytes) override {
    require(!failed && rkey == kKey && !bytes.empty() && granted.holds(address, bytes.size()));
    std::memcpy(&region[address - kBase], bytes.data(), bytes.size());
    return bytes[0] == std::byte{0xee} ? Placed::kFault : Placed::kPlaced;
  }
  std::optional<std::uint64_t> atomic(WorkKind, std::uint32_t rkey, std::uint64_t address,
                                      std::uint64_t value, std::uint64_t) override {
    require(!failed && rkey == kKey && Range{kBase, kRegionBytes}.holds(address, 8));
    require(address % 8 == 0);
    std::memcpy(&region[address - kBase], &value, 8);
    if (value == 0xee) return std::nullopt;
    return value;
  }
  Placed begin_receive(std::uint32_t srq) override {
    require(!failed && srq <= 0xffffff);
    if (receives == 0) return Placed::kNoReceive;
    if (srq == 9) return Placed::kFault;
    begun = true;
    return Placed::kPlaced;
  }
  Placed place_receive(std::uint64_t offset, std::span<const std::byte> bytes) override {
    require(begun && !failed);
    if (offset + bytes.size() > receive.size()) return Placed::kTooLong;
    std::memcpy(&receive[offset], bytes.data(), bytes.size());
    return Placed::kPlaced;
  }
  void complete_receive(const Received& done) override {
    require(receives > 0 && !failed);
    require(begun || done.outcome != Placed::kPlaced);
    begun = false;
    --receives;
  }
  bool may_invalidate(std::uint32_t key) override { return (key & 1) != 0; }
  std::optional<std::uint32_t> receives_waiting() override {
    if (shared) return std::nullopt;
    return receives;
  }
  void fail(Fault) override {
    require(!failed);
    failed = true;
  }
  void count(Event) override {}

  std::deque<Work> works;
  bool ended = false;
  bool local_waits = false;
  std::vector<std::byte> region = std::vector<std::byte>(kRegionBytes);
  Range granted;
  std::vector<std::byte> receive = std::vector<std::byte>(1500);
  std::uint32_t receives = 2;
  bool begun = false;
  bool shared = false;
  bool failed = false;
};

class Fuzz {
 public:
  explicit Fuzz(Input* input) : input_(*input) {
    constexpr wire::Transport kTransports[] = {
        wire::Transport::kReliableConnection, wire::Transport::kExtendedReliable,
        wire::Transport::kUnreliableConnection, wire::Transport::kUnreliableDatagram};
    const std::uint8_t choice = input_.byte();
    settings_.transport = kTransports[choice & 3];
    settings_.path_mtu = 256;
    settings_.receive_psn = kFirstReceived;
    settings_.responder_resources = 1 + (choice >> 2 & 3);
    owner_.shared = (choice >> 4 & 1) != 0;
    sending_.first_psn = kFirstSent;
    sending_.timeout = (choice >> 5 & 1) * 4 * gdr::kMillisecond;
    sending_.rnr_retry = choice >> 6 & 1 ? 7 : 1;
    sending_.most_in_flight = choice >> 7 & 1 ? 1 << 20 : 1;
    sending_.initiator_depth = settings_.responder_resources;
    if (!datagram()) {
      connection_.emplace(settings_, owner_);
      connection_->start_sending(sending_);
    }
  }

  void run() {
    while (!input_.empty()) {
      step();
      if (!datagram()) poll((last_step_ & 0xc0) == 0 ? 64 : last_step_ >> 6);
    }
  }

 private:
  bool datagram() const { return settings_.transport == wire::Transport::kUnreliableDatagram; }

  void step() {
    last_step_ = input_.byte();
    switch (last_step_ & 7) {
      case 0:
        return raw();
      case 1:
      case 2:
        return request();
      case 3:
        return answer();
      case 4:
        return post();
      case 5:
        owner_.receives += 1;
        if (connection_) connection_->receive_posted(now_);
        return;
      case 6:
        return wait();
      default:
        return give(last_);
    }
  }

  void give(const wire::Packet& packet) {
    if (packet.info == nullptr) return;
    last_ = packet;
    if (datagram()) return Datagram::receive(packet, 0x11, owner_);
    now_ += 100;
    connection_->receive(packet, now_, (last_step_ & 32) != 0);
  }

  void raw() {
    payloads_.push_back(input_.bytes(input_.byte()));
    wire::Packet packet{};
    if (wire::parse(payloads_.back(), &packet) == wire::ParseError::kNone) give(packet);
  }

  // Poison in what its opcode does not have: nobody may look at it.
  wire::Packet blank(wire::Operation operation, std::uint32_t psn) {
    wire::Packet packet;
    std::memset(static_cast<void*>(&packet), 0xa5, sizeof packet);
    packet.opcode = wire::make_opcode(settings_.transport, operation);
    packet.info = wire::find_opcode(packet.opcode);
    packet.solicited = packet.migrated = packet.fecn = packet.becn = false;
    packet.ack_request = (last_step_ & 8) != 0;
    packet.pad = 0;
    packet.psn = psn & wire::kPsnMask;
    packet.payload = {};
    return packet;
  }

  void request() {
    const auto operation = wire::Operation(input_.byte() % 24);
    const std::int32_t beside = (last_step_ & 16) != 0 ? input_.delta() : 0;
    wire::Packet packet = blank(operation, expected_ + static_cast<std::uint32_t>(beside));
    if (packet.info == nullptr || !packet.info->is(wire::kRequest)) return;
    const wire::OpcodeInfo& info = *packet.info;
    if (info.is(wire::kHasXrceth)) packet.xrc_srq = (input_.byte() & 15) + 1;
    if (info.is(wire::kHasDeth)) packet.deth = {0x11u + (input_.byte() == 0), 3};
    if (info.is(wire::kHasReth)) packet.reth = {address(), key(), length()};
    if (info.is(wire::kHasAtomicEth)) packet.atomic = {address() & ~7ull, key(), input_.byte(), 1};
    if (info.is(wire::kHasImmDt)) packet.immediate = 5;
    if (info.is(wire::kHasIeth)) packet.invalidate_key = input_.byte();
    if (info.is(wire::kPayload)) {
      const std::uint32_t size = info.is(wire::kLast) ? length() % 512 : settings_.path_mtu;
      payloads_.emplace_back(size, std::byte{input_.byte()});
      packet.payload = payloads_.back();
    }
    give(packet);
    if (beside != 0) return;
    const bool read = info.is(wire::kRead);
    expected_ += read ? (packet.reth.length + 255) / 256 + (packet.reth.length == 0) : 1;
  }

  std::uint64_t address() { return kBase + input_.number() % (kRegionBytes + 64); }
  std::uint32_t key() { return (last_step_ & 64) != 0 ? 8 : kKey; }
  std::uint32_t length() {
    constexpr std::uint32_t kLengths[] = {0, 1, 8, 255, 256, 257, 512, 513, 1024, 5000, ~0u};
    return kLengths[input_.byte() % 11];
  }

  void answer() {
    constexpr wire::Operation kAnswers[] = {
        wire::Operation::kAcknowledge,        wire::Operation::kReadResponseFirst,
        wire::Operation::kReadResponseMiddle, wire::Operation::kReadResponseLast,
        wire::Operation::kReadResponseOnly,   wire::Operation::kAtomicAcknowledge,
        wire::Operation::kAcknowledge,        wire::Operation::kAcknowledge};
    const std::uint8_t choice = input_.byte();
    wire::Packet packet =
        blank(kAnswers[choice & 7], asked_ + static_cast<std::uint32_t>(input_.delta()));
    if (packet.info == nullptr) return;
    if (packet.info->is(wire::kHasAeth)) packet.aeth = {input_.byte(), input_.byte()};
    if (packet.info->is(wire::kHasAtomicAckEth)) packet.atomic_original = 3;
    if (packet.info->is(wire::kPayload)) {
      payloads_.emplace_back(length() % 512, std::byte{1});
      packet.payload = payloads_.back();
    }
    give(packet);
  }

  void post() {
    Work work;
    work.kind = WorkKind(input_.byte() % 9);
    work.length = length() % 70'000;
    if (work.kind == WorkKind::kCompareSwap || work.kind == WorkKind::kFetchAdd) work.length = 8;
    if (datagram()) {  // no other is posted to one
      work.kind = WorkKind(static_cast<int>(work.kind) & 1);
      work.length %= 257;
    }
    work.fence = (last_step_ & 8) != 0;
    if ((last_step_ & 56) == 56) work.error = Status::kLocalProtectionError;
    owner_.works.push_back(work);
    if (connection_) return connection_->posted(now_);
    Transmit transmit;
    Datagram sender(3);
    sender.build(work, &transmit);
    check(transmit);
    owner_.works.pop_back();
  }

  void wait() {
    if (!connection_) return;
    const Nanoseconds next = connection_->next_timeout();
    if (next == kNever) return;
    now_ = std::max(now_, next);
    connection_->handle_timeout(now_);
  }

  void poll(int most) {
    Transmit transmit;
    for (int i = 0; i < most && connection_->poll_transmit(now_, &transmit); ++i) {
      check(transmit);
      const wire::Packet& packet = transmit.packet;
      if (packet.info->is(wire::kRequest)) {
        asked_ = packet.psn;
      } else if (packet.operation() == wire::Operation::kAcknowledge) {
        const bool ack = wire::acknowledge_of(packet.aeth.syndrome) == wire::Acknowledge::kAck;
        expected_ = wire::psn_add(packet.psn, ack ? 1 : 0);
      }
      if ((last_step_ & 0xf8) == 0xf8 && transmit.source != Source::kNone) {
        connection_->payload_unavailable(transmit, now_);
      }
    }
  }

  // It can be written, says what it carries, and carries only what was granted.
  void check(const Transmit& transmit) {
    std::vector<std::byte> bytes(wire::kMostHeaderBytes + 8 + transmit.payload_bytes);
    const std::size_t headers = wire::write_headers(transmit.packet, bytes.data());
    bytes.resize(headers + transmit.payload_bytes + transmit.packet.pad + wire::kIcrcBytes);
    wire::Packet parsed;
    require(wire::parse(bytes, &parsed) == wire::ParseError::kNone);
    require(parsed.payload.size() == transmit.payload_bytes);
    require(transmit.payload_bytes <= (datagram() ? 4096 : settings_.path_mtu));
    if (transmit.source == Source::kWork) {
      require(transmit.work < owner_.works.size());
      require(transmit.offset + transmit.payload_bytes <= owner_.works[transmit.work].length);
    } else if (transmit.source == Source::kRegion) {
      require(transmit.rkey == kKey &&
              Range{kBase, kRegionBytes}.holds(transmit.address, transmit.payload_bytes));
    } else {
      require(transmit.payload_bytes == 0);
    }
  }

  Input& input_;
  ConnectionSettings settings_;
  SendSettings sending_;
  BoundedOwner owner_;
  std::optional<Connection> connection_;
  Nanoseconds now_ = gdr::kSecond;
  std::uint8_t last_step_ = 0;
  std::uint32_t expected_ = kFirstReceived;      // what the responder waits for, as far as is known
  std::uint32_t asked_ = kFirstSent;             // the requester's newest packet
  std::deque<std::vector<std::byte>> payloads_;  // what packets borrow
  wire::Packet last_{};
};

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  Input input(data, size);
  Fuzz(&input).run();
  return 0;
}
