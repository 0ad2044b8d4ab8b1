#include "program.h"

#include <array>
#include <cstring>

namespace gdr::sim {
namespace {

using engine::Placed;
using engine::Right;
using engine::Status;
using engine::Work;
using engine::WorkKind;

constexpr std::uint32_t kKey = 42;
constexpr std::uint64_t kWritable = 0x1'0000'0000;  // where writes go
constexpr std::uint64_t kReadable = 0x2'0000'0000;
constexpr std::uint64_t kCounter = 0x3'0000'0000;
constexpr std::uint64_t kAreaBytes = 1 << 24;

bool is_send(WorkKind kind) { return kind <= WorkKind::kSendInvalidate; }
bool is_write(WorkKind kind) {
  return kind == WorkKind::kWrite || kind == WorkKind::kWriteImmediate;
}
bool is_atomic(WorkKind kind) {
  return kind == WorkKind::kCompareSwap || kind == WorkKind::kFetchAdd;
}
bool needs_receive(WorkKind kind) { return is_send(kind) || kind == WorkKind::kWriteImmediate; }

// Bytes that know where they belong: of message `number`, or of an address.
void pattern(std::uint64_t number, std::uint64_t offset, std::span<std::byte> to) {
  std::uint64_t state = number * 0x2545f4914f6cdd1d;
  for (std::size_t i = 0; i < to.size(); ++i) {
    const std::uint64_t at = offset + i;
    to[i] = static_cast<std::byte>((state ^ at * 0x9e3779b1) >> 13 ^ at);
  }
}
bool has_pattern(std::uint64_t number, std::uint64_t offset, std::span<const std::byte> bytes) {
  std::array<std::byte, wire::kMostPayload> expected;
  pattern(number, offset, std::span(expected).first(bytes.size()));
  return std::memcmp(expected.data(), bytes.data(), bytes.size()) == 0;
}

std::uint64_t random_length(std::uint32_t path_mtu, Random* random) {
  switch (random->below(8)) {
    case 0:
      return 0;
    case 1:
    case 2:
    case 3:
      return 1 + random->below(128);
    case 4:  // about a multiple of the path MTU
      return (1 + random->below(6)) * path_mtu + random->below(3) - 1;
    case 5:
      return 1 + random->below(40 * path_mtu);
    default:
      return 1 + random->below(4 * path_mtu);
  }
}

WorkKind random_kind(bool reads, Random* random) {
  constexpr WorkKind kKinds[] = {
      WorkKind::kSend,           WorkKind::kSendImmediate,  WorkKind::kWrite,
      WorkKind::kWrite,          WorkKind::kWriteImmediate, WorkKind::kLocal,
      WorkKind::kSendInvalidate, WorkKind::kRead,           WorkKind::kRead,
      WorkKind::kFetchAdd,       WorkKind::kCompareSwap};
  return kKinds[random->below(reads ? 11 : 6)];
}

}  // namespace

std::vector<Work> make_script(const ScriptSettings& settings, Random* random) {
  std::vector<Work> script;
  for (std::uint32_t i = 0; i < settings.works; ++i) {
    Work work;
    work.kind = random_kind(settings.reads, random);
    work.length =
        std::max<std::uint64_t>(random_length(settings.path_mtu, random), settings.least_length);
    work.fence = random->below(8) == 0;
    work.solicited = random->below(4) == 0;
    work.immediate = random->below(~0u);
    work.rkey = kKey;
    work.xrc_srq = settings.xrc_srq;
    work.remote_address = kWritable + random->below(kAreaBytes / 2);
    if (work.kind == WorkKind::kRead) {
      work.remote_address = kReadable + random->below(kAreaBytes / 2);
    } else if (is_atomic(work.kind)) {
      work.remote_address = kCounter;
      work.length = 8;
      work.compare_or_add = random->below(3);
      work.swap = random->below(3);
    } else if (work.kind == WorkKind::kLocal) {
      work.length = 0;
    }
    script.push_back(work);
  }
  return script;
}

void Program::meet(Program* peer) {
  peer_ = peer;
  if (settings_.receives_at_once == 0) receives_ = ~0u >> 1;
}

void Program::complain(const std::string& what) {
  if (complaint_.empty()) complaint_ = what + "; " + progress();
}

std::string Program::progress() const {
  return "completed " + std::to_string(completed_) + " of " + std::to_string(script_.size()) +
         ", received up to work " + std::to_string(incoming_) + " byte " +
         std::to_string(incoming_bytes_);
}

std::size_t Program::messages_sent() const {
  std::size_t messages = 0;
  for (const Work& work : script_) messages += work.kind != WorkKind::kLocal;
  return messages;
}

// Works that leave no trace at their target are passed over.
void Program::find_incoming() {
  const std::vector<Work>& script = peer_->script_;
  while (incoming_ < script.size()) {
    const Work& work = script[incoming_];
    const bool traceless = work.kind == WorkKind::kRead || work.kind == WorkKind::kLocal ||
                           (work.kind == WorkKind::kWrite && work.length == 0);
    if (!traceless) return;
    ++incoming_;
  }
}

void Program::end_incoming() {
  ++incoming_;
  ++messages_;
  incoming_bytes_ = 0;
  has_receive_ = false;
  find_incoming();
}

bool Program::served() const {
  const_cast<Program*>(this)->find_incoming();
  return incoming_ == peer_->script_.size();
}

bool Program::work(std::uint32_t index, Work* work) {
  const std::size_t at = completed_ + index;
  if (at >= script_.size() || index >= settings_.queue_depth) return false;
  *work = script_[at];
  return true;
}

void Program::complete(Status status) {
  if (completed_ == script_.size()) return complain("a completion of nothing");
  const Work& work = script_[completed_];
  if (status != Status::kSuccess) {
    complain("status " + std::to_string(static_cast<int>(status)));
  }
  if (work.kind == WorkKind::kRead && read_bytes_ != work.length) complain("an incomplete read");
  if (is_atomic(work.kind) && !has_value_) complain("an atomic without its value");
  peer_->find_incoming();
  if (!settings_.may_lose && peer_->incoming_ <= completed_) {
    complain("completed what has not arrived");
  }
  read_bytes_ = 0;
  has_value_ = false;
  ++completed_;
}

bool Program::place_response(std::uint32_t index, std::uint64_t offset,
                             std::span<const std::byte> bytes) {
  const Work& work = script_[completed_ + index];
  if (index != 0) complain("a response for another than the oldest work");
  if (is_atomic(work.kind)) {
    std::uint64_t value;
    std::memcpy(&value, bytes.data(), sizeof value);
    if (value != expected_value_) complain("an atomic found another value");
    if (work.kind == WorkKind::kFetchAdd) {
      expected_value_ += work.compare_or_add;
    } else if (value == work.compare_or_add) {
      expected_value_ = work.swap;
    }
    if (has_value_) complain("an atomic was answered twice");
    has_value_ = true;
    return true;
  }
  if (work.kind != WorkKind::kRead) complain("a response to what is no read");
  if (offset != read_bytes_) complain("a response out of its order");
  if (!has_pattern(0, work.remote_address + offset, bytes))
    complain("a response's bytes are wrong");
  read_bytes_ = offset + bytes.size();
  return true;
}

std::optional<Status> Program::carry_out_local() {
  if (script_[completed_].kind != WorkKind::kLocal) complain("local work out of its turn");
  return Status::kSuccess;
}

bool Program::may_access(std::uint32_t rkey, std::uint64_t address, std::uint64_t length,
                         Right right) {
  const std::uint64_t base = right == Right::kWrite  ? kWritable
                             : right == Right::kRead ? kReadable
                                                     : kCounter;
  return rkey == kKey && address >= base && address + length <= base + kAreaBytes;
}

bool Program::same_bytes(std::size_t work, std::uint64_t offset, std::span<const std::byte> bytes) {
  return has_pattern(work + 1, offset, bytes);
}

// On a connection that may lose messages: the one that begins with these bytes.
bool Program::find_begin(std::span<const std::byte> bytes, bool write) {
  const std::vector<Work>& script = peer_->script_;
  for (std::size_t at = incoming_; at < script.size(); ++at) {
    const bool kind = write ? is_write(script[at].kind) : is_send(script[at].kind);
    if (!kind || !same_bytes(at, 0, bytes)) continue;
    incoming_ = at;
    incoming_bytes_ = 0;
    return true;
  }
  return false;
}

Placed Program::write(std::uint32_t rkey, std::uint64_t address, std::span<const std::byte> bytes) {
  find_incoming();
  if (!may_access(rkey, address, bytes.size(), Right::kWrite)) complain("a write out of bounds");
  if (settings_.may_lose) {
    const bool goes_on = incoming_ < peer_->script_.size() && incoming_bytes_ > 0 &&
                         address == peer_->script_[incoming_].remote_address + incoming_bytes_;
    if (!goes_on && !find_begin(bytes, true)) complain("a write from nowhere");
  }
  if (incoming_ == peer_->script_.size()) {
    complain("a write after the last");
    return Placed::kPlaced;
  }
  const Work& work = peer_->script_[incoming_];
  if (!is_write(work.kind)) complain("a write out of its turn");
  if (address != work.remote_address + incoming_bytes_) complain("a write at the wrong place");
  if (!same_bytes(incoming_, incoming_bytes_, bytes)) complain("a write's bytes are wrong");
  incoming_bytes_ += bytes.size();
  if (incoming_bytes_ > work.length) complain("a write beyond its message");
  if (work.kind == WorkKind::kWrite && incoming_bytes_ == work.length) end_incoming();
  return Placed::kPlaced;
}

std::optional<std::uint64_t> Program::atomic(WorkKind kind, std::uint32_t, std::uint64_t address,
                                             std::uint64_t swap_or_add, std::uint64_t compare) {
  find_incoming();
  if (incoming_ == peer_->script_.size() || peer_->script_[incoming_].kind != kind) {
    complain("an atomic out of its turn");
    return 0;
  }
  if (address != kCounter) complain("an atomic at the wrong place");
  const std::uint64_t before = counter_;
  if (kind == WorkKind::kFetchAdd) {
    counter_ += swap_or_add;
  } else if (before == compare) {
    counter_ = swap_or_add;
  }
  end_incoming();
  return before;
}

Placed Program::begin_receive(std::uint32_t xrc_srq) {
  find_incoming();
  if (xrc_srq != settings_.xrc_srq) complain("a receive of another shared receive queue");
  if (!settings_.may_lose) {
    if (has_receive_) complain("a second receive for a message");
    if (incoming_ == peer_->script_.size() || !needs_receive(peer_->script_[incoming_].kind)) {
      complain("a receive out of its turn");
    }
  }
  if (receives_ == 0) return Placed::kNoReceive;
  has_receive_ = true;
  return Placed::kPlaced;
}

Placed Program::place_receive(std::uint64_t offset, std::span<const std::byte> bytes) {
  if (settings_.may_lose && offset == 0 && !find_begin(bytes, false)) {
    complain("a send from nowhere");
  }
  if (incoming_ == peer_->script_.size()) {
    complain("a send after the last");
    return Placed::kPlaced;
  }
  if (!is_send(peer_->script_[incoming_].kind)) complain("a send out of its turn");
  if (!has_receive_ || offset != incoming_bytes_) complain("a send at the wrong place");
  if (!same_bytes(incoming_, offset, bytes)) complain("a send's bytes are wrong");
  incoming_bytes_ += bytes.size();
  return Placed::kPlaced;
}

void Program::complete_receive(const engine::Received& received) {
  if (incoming_ == peer_->script_.size() && !settings_.may_lose) {
    return complain("a message after the last");
  }
  --receives_;
  const Work& work = peer_->script_[incoming_];
  if (!has_receive_ || received.outcome != Placed::kPlaced)
    complain("a receive that was not begun");
  if (incoming_bytes_ != work.length || received.bytes != work.length) {
    complain("a message of another length");
  }
  if (received.is_write != (work.kind == WorkKind::kWriteImmediate)) complain("another kind");
  const bool tells = work.kind != WorkKind::kSend;
  if (tells && received.immediate != work.immediate) complain("another immediate");
  if (received.solicited != work.solicited) complain("another solicited event");
  end_incoming();
}

std::optional<std::uint32_t> Program::receives_waiting() {
  if (!settings_.credits) return std::nullopt;
  return receives_ - (has_receive_ ? 1 : 0);
}

bool Program::fill(const engine::Transmit& transmit, std::span<std::byte> to) {
  if (transmit.source == engine::Source::kRegion) {
    pattern(0, transmit.address, to);
  } else {
    pattern(completed_ + transmit.work + 1, transmit.offset, to);
  }
  return true;
}

Nanoseconds Program::next_event() const {
  return settings_.receives_at_once == 0 ? engine::kNever : receives_at_;
}

void Program::happen(Nanoseconds now) {
  receives_at_ = now + settings_.between_receives;
  receives_ += settings_.receives_at_once;
  if (peer_->done()) receives_at_ = engine::kNever;
  connection()->receive_posted(now);
}

}  // namespace gdr::sim
