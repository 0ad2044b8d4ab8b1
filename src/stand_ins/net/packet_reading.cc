// Bytes that packets carry: where they lie, and those of GPU memory, which are read ahead of their
// packets. A send's or write's may be read at any time from its post to its completion; those that
// the other side reads are read once all that came before the read is in place (the engine asks
// for them then).
#include <algorithm>

#include "net/packet_queue_pair.h"
#include "rnic/delivery/segments.h"

namespace gdr::net {
namespace {

using Found = ReadAhead::Found;

bool carries_bytes(const rnic::SendRequest& request) {
  return request.opcode != IBV_WR_RDMA_READ && !rnic::is_atomic(request.opcode) &&
         (request.flags & IBV_SEND_INLINE) == 0;
}

}  // namespace

// Of its first byte. Works are counted from the queue pair's first.
ReadAhead::Position PacketQueuePair::position_of(const engine::Transmit& transmit) const {
  const bool answers = transmit.source == engine::Source::kRegion;
  return {answers ? transmit.message : ended_works_ + ring_index(transmit.work), transmit.offset};
}

// Calls `take(place, length)` for each part of the payload. False: a key does not cover it, or
// `take` said so.
template <typename Take>
bool PacketQueuePair::visit_payload(const engine::Transmit& transmit, const Take& take) {
  if (transmit.source == engine::Source::kRegion) {
    rnic::Place place;
    xrc_srq_ = transmit.packet.xrc_srq;
    return find_remote(transmit.rkey, transmit.address, transmit.payload_bytes,
                       engine::Right::kRead, &place) &&
           take(place, transmit.payload_bytes);
  }
  const rnic::SendRequest& request = request_of(transmit);
  return rnic::visit_segments(adapter_.regions(), request.segments(),
                              queue_pair_.domain_of(request), rnic::kReadHere, transmit.offset,
                              transmit.payload_bytes, take);
}

std::optional<std::uint32_t> PacketQueuePair::gather(const engine::Transmit& transmit,
                                                     std::span<iovec> pieces,
                                                     PayloadRoom& payload_room) {
  if (transmit.source == engine::Source::kNone) return 0;
  if (transmit.source == engine::Source::kWork) {
    const rnic::SendRequest& request = request_of(transmit);
    if ((request.flags & IBV_SEND_INLINE) != 0) {
      pieces[0] = {const_cast<std::uint8_t*>(request.inline_data().data()) + transmit.offset,
                   transmit.payload_bytes};
      return 1;
    }
  }
  ReadAhead::Position position = position_of(transmit);
  std::uint32_t count = 0;
  if (found_.count > 0 && found_.position == position && found_.bytes == transmit.payload_bytes) {
    count = std::exchange(found_.count, 0);
    std::copy_n(found_.pieces.begin(), count, pieces.begin());
    if (transmit.source == engine::Source::kRegion && transmit.rest == 0) answer_ends_ = true;
    return count;
  }
  const auto add = [&](const rnic::Place& place, std::size_t length) {
    if (rnic::is_plain(place)) {
      pieces[count++] = {reinterpret_cast<void*>(place.address), length};
      position.offset += length;
      return true;
    }
    std::size_t done = 0;
    while (rnic::is_served(place) && done < length) {
      const std::byte* at = nullptr;
      std::size_t bytes = length - done;
      if (ahead_of(transmit).find(position, &at, &bytes) != Found::kHere) break;
      pieces[count++] = {const_cast<std::byte*>(at), bytes};
      position.offset += bytes;
      done += bytes;
    }
    if (done == length) return true;
    rnic::Place rest = place;
    rest.address += done;
    std::byte* room = payload_room.take(length - done);
    if (room == nullptr || !rnic::read_registered(rest, {room, length - done})) return false;
    pieces[count++] = {room, length - done};
    position.offset += length - done;
    return true;
  };
  if (!visit_payload(transmit, add)) return std::nullopt;
  if (transmit.source == engine::Source::kRegion && transmit.rest == 0) answer_ends_ = true;
  return count;
}

void PacketQueuePair::packets_have_left() {
  if (!works_ahead_.is_empty()) works_ahead_.sent();
  if (answers_ahead_.is_empty()) return;
  answers_ahead_.sent();
  if (std::exchange(answer_ends_, false) && !answers_ahead_.is_copying()) answers_ahead_.clear();
}

bool PacketQueuePair::has_bytes(const engine::Transmit& transmit) {
  waits_for_bytes_ = false;
  found_.count = 0;
  if (datagram_ || !adapter_.regions().has_served()) return true;
  if (transmit.source == engine::Source::kWork &&
      (request_of(transmit).flags & IBV_SEND_INLINE) != 0) {
    return true;
  }
  Found found = find_bytes(transmit);
  if (found == Found::kNot) {
    ahead_of(transmit).begin(position_of(transmit));
    read_ahead(transmit);
    found = find_bytes(transmit);
  } else if (ahead_of(transmit).has_room()) {
    read_ahead(transmit);
  }
  waits_for_bytes_ = found == Found::kLater;
  return !waits_for_bytes_;
}

// kHere also where all of it is ordinary memory, and where its keys do not hold: gather() tells,
// and takes what is found here, so that keys are looked up once.
ReadAhead::Found PacketQueuePair::find_bytes(const engine::Transmit& transmit) {
  Found worst = Found::kHere;
  ReadAhead::Position position = position_of(transmit);
  found_.position = position;
  found_.bytes = transmit.payload_bytes;
  found_.count = 0;
  const auto look = [&](const rnic::Place& place, std::size_t length) {
    if (rnic::is_plain(place) && found_.count < found_.pieces.size()) {
      found_.pieces[found_.count++] = {reinterpret_cast<void*>(place.address), length};
      position.offset += length;
      return true;
    }
    for (std::size_t done = 0; done < length;) {
      const std::byte* at = nullptr;
      std::size_t bytes = length - done;
      if (!rnic::is_served(place) || found_.count == found_.pieces.size()) return false;
      worst = ahead_of(transmit).find(position, &at, &bytes);
      if (worst != Found::kHere) return false;
      found_.pieces[found_.count++] = {const_cast<std::byte*>(at), bytes};
      position.offset += bytes;
      done += bytes;
    }
    return true;
  };
  if (!visit_payload(transmit, look)) found_.count = 0;
  return worst;
}

void PacketQueuePair::read_ahead(const engine::Transmit& transmit) {
  if (transmit.source == engine::Source::kRegion) {
    read_answer_ahead(transmit);
  } else {
    read_works_ahead(position_of(transmit).message);
  }
}

// What is posted behind the `current` one, too, but for what a fence or local work holds back.
void PacketQueuePair::read_works_ahead(std::uint64_t current) {
  rnic::SendRing& ring = queue_pair_.send_ring();
  ReadAhead::Position& end = works_ahead_.end();
  while (works_ahead_.has_room()) {
    const std::uint64_t index = end.message - ended_works_;
    if (index >= ring.size()) return;
    const rnic::SendRequest& request = ring.peek(static_cast<std::uint32_t>(index));
    const bool is_fenced = (request.flags & IBV_SEND_FENCE) != 0 && end.message != current;
    if (is_fenced || rnic::is_window_request(request.opcode)) return;
    if (carries_bytes(request) && end.offset < request.total_bytes) {
      if (!read_segment_ahead(request)) return;
    } else {
      end = {end.message + 1, 0};
    }
  }
}

// The segment that the end lies in, or what of it there is room for. False: not now.
bool PacketQueuePair::read_segment_ahead(const rnic::SendRequest& request) {
  ReadAhead::Position& end = works_ahead_.end();
  bool went_on = false;
  rnic::visit_segments(adapter_.regions(), request.segments(), queue_pair_.domain_of(request),
                       rnic::kReadHere, end.offset, request.total_bytes - end.offset,
                       [&](const rnic::Place& place, std::size_t length) {
                         if (rnic::is_served(place)) {
                           went_on = read_piece(works_ahead_, place, length) > 0;
                         } else {
                           end.offset += length;
                           went_on = true;
                         }
                         return false;  // one at a time
                       });
  return went_on;
}

// No more than this answer: what is read for another could be read too early.
void PacketQueuePair::read_answer_ahead(const engine::Transmit& transmit) {
  ReadAhead::Position& end = answers_ahead_.end();
  const std::uint64_t bytes = transmit.offset + transmit.payload_bytes + transmit.rest;
  while (answers_ahead_.has_room() && end.message == transmit.message && end.offset < bytes) {
    const std::uint64_t most = std::min<std::uint64_t>(bytes - end.offset, PinnedPool::kBlock);
    const std::uint64_t address = transmit.address + (end.offset - transmit.offset);
    rnic::Place place;
    if (!find_remote(transmit.rkey, address, most, engine::Right::kRead, &place) ||
        !rnic::is_served(place) || read_piece(answers_ahead_, place, most) == 0) {
      return;
    }
  }
}

// While copies are under way the responder lock is held, so that deregistration waits for them.
std::size_t PacketQueuePair::read_piece(ReadAhead& ahead, const rnic::Place& place,
                                        std::size_t bytes) {
  return hold_responder() ? ahead.read(place, bytes) : 0;
}

}  // namespace gdr::net
