#include "net/identification.h"

#include <cstring>
#include <string_view>

#include "net/port.h"
#include "wire/opcode.h"

namespace gdr::net {
namespace {

constexpr std::size_t kMostSources = 4096;  // who is beyond has to begin anew
// How far a source may have counted since: other traffic of it takes numbers, too, and Linux adds
// up to one for each tick that has passed (ip_idents_reserve).
constexpr std::uint32_t kNear = 1024;
constexpr Nanoseconds kTick = kMillisecond;

std::uint32_t stored_icrc(std::span<const std::byte> packet) {
  std::uint32_t value;
  std::memcpy(&value, packet.data() + packet.size() - sizeof value, sizeof value);
  return value;
}

}  // namespace

std::size_t Identifications::Hash::operator()(const wire::Address& address) const {
  return std::hash<std::string_view>()(
      {reinterpret_cast<const char*>(address.data()), address.size()});
}

std::optional<std::uint16_t> find_identification(const wire::Flow& flow,
                                                 std::span<const std::byte> packet,
                                                 std::uint16_t guess) {
  if (packet.size() < wire::kBthBytes + wire::kIcrcBytes) return std::nullopt;
  const std::span<const std::byte> covered = packet.first(packet.size() - wire::kIcrcBytes);
  const std::uint32_t stored = stored_icrc(packet);
  const std::uint32_t computed = wire::icrc_of(flow, guess, covered);
  if (computed == stored) return guess;
  if (!wire::is_ipv4(flow.source)) return std::nullopt;
  // By linearity the difference of two identifications is solved for as one itself.
  const auto difference = wire::solve_identification(computed, stored, packet.size());
  if (!difference) return std::nullopt;
  return static_cast<std::uint16_t>(guess ^ *difference);
}

bool Identifications::accept(const wire::Flow& flow, std::span<const std::byte> packet,
                             std::uint16_t guess, Nanoseconds time) {
  const std::optional<std::uint16_t> identification = find_identification(flow, packet, guess);
  if (!identification) return false;
  if (*identification == guess || *identification < kMostPackets) return true;
  raw_headers_.watch(flow.source);
  if (const auto allowed = raw_headers_.allow(*identification, guess)) return *allowed;
  return is_near_the_last(flow.source, *identification, time);
}

bool Identifications::is_near(const Seen& seen, const Seen& now) {
  const auto ahead = static_cast<std::uint16_t>(now.identification - seen.identification);
  const auto behind = static_cast<std::uint16_t>(seen.identification - now.identification);
  return ahead <= kNear + (now.at - seen.at) / kTick || behind <= kNear;
}

bool Identifications::is_near_the_last(const wire::Address& address, std::uint16_t identification,
                                       Nanoseconds time) {
  if (sources_.size() >= kMostSources) sources_.clear();
  const Seen now{identification, time};
  const auto [place, is_new] = sources_.try_emplace(address);
  Source& source = place->second;
  if (is_new || is_near(source.accepted, now) ||
      (source.refused.at != 0 && is_near(source.refused, now))) {
    source.accepted = now;
    return true;
  }
  source.refused = now;
  return false;
}

}  // namespace gdr::net
