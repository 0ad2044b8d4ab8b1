#include "world.h"

#include <algorithm>
#include <utility>

namespace gdr::sim {

using engine::kNever;

std::size_t World::add_link(const LinkSettings& settings, std::uint64_t seed) {
  links_.emplace_back(settings, seed);
  return links_.size() - 1;
}

std::size_t World::add_host(Host* host, std::size_t link, std::size_t to,
                            std::uint64_t socket_bytes) {
  places_.push_back({host, link, to, socket_bytes, 0});
  return places_.size() - 1;
}

Nanoseconds World::next() const {
  Nanoseconds at = kNever;
  for (const Link& link : links_) at = std::min(at, link.next());
  for (const Place& place : places_) {
    at = std::min({at, place.host->connection()->next_timeout(), place.host->next_event()});
    if (place.blocked_until > now_) at = std::min(at, place.blocked_until);
  }
  return at;
}

void World::run(Nanoseconds end, const std::function<bool()>& done) {
  for (Place& place : places_) pump(place);
  while (!done || !done()) {
    const Nanoseconds at = next();
    if (at == kNever || at > end) break;
    now_ = std::max(now_, at);
    arrivals();
    for (Place& place : places_) {
      if (place.host->next_event() <= now_) place.host->happen(now_);
      if (place.host->connection()->next_timeout() <= now_) {
        place.host->connection()->handle_timeout(now_);
      }
      pump(place);
    }
  }
}

void World::arrivals() {
  for (Link& link : links_) {
    while (link.next() <= now_) {
      const Datagram datagram = link.take();
      if (datagram.corrupted) continue;  // its ICRC is wrong
      wire::Packet packet;
      if (wire::parse(datagram.bytes, &packet) != wire::ParseError::kNone) std::abort();
      places_[datagram.to].host->connection()->receive(packet, now_, datagram.marked);
    }
  }
}

void World::pump(Place& place) {
  const Link& link = links_[place.link];
  engine::Transmit transmit;
  while (true) {
    if (place.socket_bytes != ~std::uint64_t{0}) {
      place.blocked_until = link.drained_to(place.socket_bytes);
      if (place.blocked_until > now_) break;
    }
    if (!place.host->connection()->poll_transmit(now_, &transmit)) break;
    send(place, transmit);
  }
  place.host->connection()->sent();
}

void World::send(Place& place, const engine::Transmit& transmit) {
  const wire::Packet& packet = transmit.packet;
  std::vector<std::byte> bytes(wire::kMostHeaderBytes + transmit.payload_bytes + packet.pad +
                               wire::kIcrcBytes);
  const std::size_t headers = wire::write_headers(packet, bytes.data());
  bytes.resize(headers + transmit.payload_bytes + packet.pad + wire::kIcrcBytes);
  if (transmit.payload_bytes > 0 &&
      !place.host->fill(transmit, std::span(bytes).subspan(headers, transmit.payload_bytes))) {
    return place.host->connection()->payload_unavailable(transmit, now_);
  }
  ++packets_;
  links_[place.link].send(now_, place.to, std::move(bytes));
}

}  // namespace gdr::sim
