#include "link.h"

#include <algorithm>

#include "engine/transmit.h"

namespace gdr::sim {
namespace {

constexpr std::uint64_t kFraming = 66;  // Ethernet, IPv4, UDP, the gap between frames

bool later(const Datagram& a, const Datagram& b) {
  return a.at != b.at ? a.at > b.at : a.order > b.order;
}

}  // namespace

Nanoseconds Link::time_of(std::uint64_t bytes) const {
  return settings_.bits_per_second == 0 ? 0 : bytes * 8 * kSecond / settings_.bits_per_second;
}

Nanoseconds Link::drained_to(std::uint64_t bytes) const {
  const Nanoseconds time = time_of(bytes);
  return free_at_ > time ? free_at_ - time : 0;
}

void Link::send(Nanoseconds now, std::size_t to, std::vector<std::byte> bytes) {
  Datagram datagram;
  datagram.to = to;
  datagram.bytes = std::move(bytes);
  if (free_at_ < now) free_at_ = now;
  const Nanoseconds waiting = free_at_ - now;
  if (settings_.queue_bytes != ~std::uint64_t{0} && waiting > time_of(settings_.queue_bytes))
    return;
  datagram.marked =
      settings_.mark_bytes != ~std::uint64_t{0} && waiting > time_of(settings_.mark_bytes);
  free_at_ += time_of(datagram.bytes.size() + kFraming);
  if (random_.chance(settings_.loss)) return;
  datagram.at = free_at_ + settings_.delay;
  if (settings_.reorder > 0 && random_.chance(settings_.reorder)) {
    datagram.at += random_.next() % (settings_.reorder_delay + 1);
  }
  if (random_.chance(settings_.corrupt)) {
    datagram.corrupted = true;
    datagram.bytes[random_.below(static_cast<std::uint32_t>(datagram.bytes.size()))] ^=
        std::byte{0x10};
  }
  if (random_.chance(settings_.duplicate)) {
    Datagram copy = datagram;
    copy.at += random_.next() % (settings_.reorder_delay + 1);
    deliver(std::move(copy));
  }
  deliver(std::move(datagram));
}

void Link::deliver(Datagram datagram) {
  datagram.order = sent_++;
  on_the_way_.push_back(std::move(datagram));
  std::push_heap(on_the_way_.begin(), on_the_way_.end(), later);
}

Nanoseconds Link::next() const { return on_the_way_.empty() ? engine::kNever : on_the_way_[0].at; }

Datagram Link::take() {
  std::pop_heap(on_the_way_.begin(), on_the_way_.end(), later);
  Datagram datagram = std::move(on_the_way_.back());
  on_the_way_.pop_back();
  return datagram;
}

}  // namespace gdr::sim
