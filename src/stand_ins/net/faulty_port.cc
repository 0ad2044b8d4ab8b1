#include "net/faulty_port.h"

#include <algorithm>
#include <cstring>
#include <string>

#include "base/environment.h"
#include "wire/packet.h"

namespace gdr::net {
namespace {

constexpr Nanoseconds kReorderWait = kMillisecond;
constexpr std::size_t kMostWaiting = 65536;
constexpr Nanoseconds kLongestDelay = 10 * kSecond;

struct Rate {
  const char* name;
  double Faults::*field;
};
constexpr Rate kRates[] = {{"loss", &Faults::loss},       {"duplicate", &Faults::duplicate},
                           {"reorder", &Faults::reorder}, {"corrupt", &Faults::corrupt},
                           {"mark", &Faults::mark},       {"damage", &Faults::damage}};

Error refuse(std::string_view part) {
  std::string shown(part);
  std::replace_if(
      shown.begin(), shown.end(), [](char c) { return c < ' ' || c > '~'; }, '?');
  return Error{EINVAL,
               "'" + shown +
                   "': allowed are loss=, duplicate=, reorder=, corrupt=, mark= and damage= with a "
                   "probability from 0 to 1, delay= as in 50us or 2ms (at most 10s), seed="};
}

Result<double> parse_rate(std::string_view text, std::string_view part) {
  // By hand: the library's conversions take the locale's point, or need libm.
  double value = 0, scale = 1;
  bool behind_point = false, has_digit = false;
  for (const char c : text) {
    if (c == '.' && !behind_point) {
      behind_point = true;
    } else if (c >= '0' && c <= '9') {
      has_digit = true;
      if (behind_point) scale /= 10;
      value = behind_point ? value + (c - '0') * scale : value * 10 + (c - '0');
    } else {
      return refuse(part);
    }
  }
  if (!has_digit || !(value <= 1)) return refuse(part);
  return value;
}

Result<Nanoseconds> parse_delay(std::string_view text, std::string_view part) {
  struct Unit {
    std::string_view name;
    Nanoseconds nanoseconds;
  };
  for (const Unit unit : {Unit{"us", kMicrosecond}, Unit{"ms", kMillisecond}, Unit{"s", kSecond}}) {
    if (!text.ends_with(unit.name)) continue;
    const Result<std::uint64_t> number = parse_number(
        text.substr(0, text.size() - unit.name.size()), 0, kLongestDelay / unit.nanoseconds);
    if (!number) return refuse(part);
    return *number * unit.nanoseconds;
  }
  return refuse(part);
}

Result<void> apply(std::string_view part, Faults& faults) {
  const std::size_t equals = part.find('=');
  if (equals == std::string_view::npos) return refuse(part);
  const std::string_view name = part.substr(0, equals), value = part.substr(equals + 1);
  for (const Rate& rate : kRates) {
    if (name != rate.name) continue;
    Result<double> parsed = parse_rate(value, part);
    if (!parsed) return parsed.error();
    faults.*rate.field = *parsed;
    return {};
  }
  if (name == "delay") {
    Result<Nanoseconds> parsed = parse_delay(value, part);
    if (!parsed) return parsed.error();
    faults.delay = *parsed;
    return {};
  }
  if (name != "seed") return refuse(part);
  Result<std::uint64_t> parsed = parse_number(value, 0, ~std::uint64_t{0});
  if (!parsed) return refuse(part);
  faults.seed = *parsed;
  return {};
}

}  // namespace

Result<Faults> parse_faults(std::string_view text) {
  Faults faults;
  for (const std::string_view part : split(text, ',')) {
    if (Result<void> applied = apply(part, faults); !applied) return applied.error();
  }
  return faults;
}

FaultyPort::FaultyPort(std::unique_ptr<Port> inner, const Faults& faults)
    : inner_(std::move(inner)), faults_(faults), random_(faults.seed) {}

// SplitMix64: one number of the sequence for each question.
bool FaultyPort::happens(double rate) {
  random_ += 0x9e37'79b9'7f4a'7c15;
  std::uint64_t value = random_;
  value = (value ^ value >> 30) * 0xbf58'476d'1ce4'e5b9;
  value = (value ^ value >> 27) * 0x94d0'49bb'1331'11eb;
  value ^= value >> 31;
  return static_cast<double>(value >> 11) * 0x1.0p-53 < rate;
}

int FaultyPort::send(const Burst& burst) {
  const std::lock_guard guard(mutex_);
  const std::vector<std::byte> all = bytes_of(burst);
  std::span<const std::byte> left(all);
  std::uint16_t place = 0;
  while (!left.empty()) {
    const auto bytes = left.first(std::min<std::size_t>(left.size(), burst.packet_bytes));
    left = left.subspan(bytes.size());
    Single packet{burst.destination,
                  burst.source_port,
                  burst.traffic_class,
                  happens(faults_.mark),
                  {bytes.begin(), bytes.end()}};
    // Sent alone, each has the identification 0: its ICRC is that of another place in the burst.
    renumber(packet, place++);
    // Asked only where it was asked for, so that the other faults of a seed stay what they were.
    if (faults_.damage > 0 && happens(faults_.damage)) damage(packet);
    if (happens(faults_.loss)) continue;
    if (happens(faults_.corrupt)) packet.bytes[random_ % bytes.size()] ^= std::byte{1};
    const bool reorders = happens(faults_.reorder);
    const int copies = happens(faults_.duplicate) ? 2 : 1;
    for (int i = 0; i < copies; ++i) {
      if (const int error = send_once(packet, reorders)) return error;
    }
    if (!reorders) send_reordered();
  }
  return 0;
}

void FaultyPort::renumber(Single& packet, std::uint16_t place) {
  if (place != 0) seal(packet);
}

// The middle byte of the payload: headers, and what has no payload, stay right.
void FaultyPort::damage(Single& packet) const {
  wire::Packet parsed;
  const std::span<const std::byte> covered =
      std::span(packet.bytes).first(packet.bytes.size() - sizeof(std::uint32_t));
  if (wire::parse(covered, &parsed) != wire::ParseError::kNone || parsed.payload.empty()) return;
  const auto payload = static_cast<std::size_t>(parsed.payload.data() - covered.data());
  packet.bytes[payload + parsed.payload.size() / 2] ^= std::byte{1};
  seal(packet);
}

void FaultyPort::seal(Single& packet) const {
  const wire::Flow flow{inner_->address(), packet.destination, packet.source_port, wire::kRocePort};
  const std::span<std::byte> covered =
      std::span(packet.bytes).first(packet.bytes.size() - sizeof(std::uint32_t));
  const std::uint32_t icrc = wire::icrc_of(flow, 0, covered);
  std::memcpy(covered.data() + covered.size(), &icrc, sizeof icrc);
}

int FaultyPort::send_once(const Single& packet, bool reorders) {
  const Nanoseconds wait = faults_.delay + (reorders ? kReorderWait : 0);
  if (wait == 0) return send_now(packet);
  if (waiting_.size() < kMostWaiting) put_off({now() + wait, reorders, packet});
  return 0;
}

int FaultyPort::send_now(const Single& packet) {
  const iovec piece{const_cast<std::byte*>(packet.bytes.data()), packet.bytes.size()};
  const auto bytes = static_cast<std::uint32_t>(packet.bytes.size());
  return inner_->send({.destination = packet.destination,
                       .source_port = packet.source_port,
                       .traffic_class = packet.traffic_class,
                       .congested = packet.congested,
                       .pieces = {&piece, 1},
                       .packet_bytes = bytes,
                       .bytes = bytes});
}

void FaultyPort::put_off(Waiting waiting) {
  const auto place =
      std::upper_bound(waiting_.begin(), waiting_.end(), waiting,
                       [](const Waiting& a, const Waiting& b) { return a.due < b.due; });
  waiting_.insert(place, std::move(waiting));
}

// What a packet has overtaken leaves behind it.
void FaultyPort::send_reordered() {
  for (auto place = waiting_.begin(); place != waiting_.end();) {
    if (!place->reordered || faults_.delay != 0) {
      ++place;
      continue;
    }
    (void)send_now(place->packet);
    place = waiting_.erase(place);
  }
}

void FaultyPort::send_due(Nanoseconds time) {
  const std::lock_guard guard(mutex_);
  while (!waiting_.empty() && waiting_.front().due <= time) {
    (void)send_now(waiting_.front().packet);
    waiting_.pop_front();
  }
}

bool FaultyPort::receive(Arrival* arrival) {
  send_due(now());
  return inner_->receive(arrival);
}

Nanoseconds FaultyPort::next_timeout() const {
  const std::lock_guard guard(mutex_);
  return waiting_.empty() ? inner_->next_timeout() : waiting_.front().due;
}

}  // namespace gdr::net
