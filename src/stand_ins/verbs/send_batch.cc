#include "verbs/send_batch.h"

#include <new>

namespace gdr::verbs {
namespace {

// Setters run inside C functions that return nothing: an allocation that fails is an error to note.
template <typename Function>
int or_no_memory(Function&& function) {
  try {
    function();
    return 0;
  } catch (const std::bad_alloc&) {
    return ENOMEM;
  }
}

}  // namespace

SendBatch::SendBatch(const rnic::QueuePairSettings& settings)
    : type_(settings.type),
      max_segments_(settings.capabilities.max_send_sge),
      max_inline_(settings.capabilities.max_inline_data) {}

void SendBatch::start() {
  posting_.lock();
  error_ = 0;
  entries_.clear();
  segments_.clear();
  bytes_.clear();
}

void SendBatch::abort() { posting_.unlock(); }

SendBatch::Entry* SendBatch::last() {
  if (error_ != 0) return nullptr;
  if (entries_.empty()) {
    note(EINVAL);
    return nullptr;
  }
  return &entries_.back();
}

void SendBatch::begin(const ibv_send_wr& request) {
  note(or_no_memory([&] {
    entries_.push_back({request, segments_.size(), bytes_.size(), false});
  }));
}

void SendBatch::set_address(ibv_ah* address, std::uint32_t remote_qp, std::uint32_t remote_qkey) {
  Entry* entry = last();
  if (entry == nullptr) return;
  entry->request.wr.ud = {address, remote_qp, remote_qkey};
}

void SendBatch::set_remote_srq(std::uint32_t number) {
  if (Entry* entry = last()) entry->request.qp_type.xrc.remote_srqn = number;
}

void SendBatch::set_segments(std::span<const ibv_sge> segments) {
  Entry* entry = last();
  if (entry == nullptr) return;
  if (entry->has_data || segments.size() > max_segments_) return note(EINVAL);
  note(or_no_memory([&] { segments_.insert(segments_.end(), segments.begin(), segments.end()); }));
  entry->has_data = true;
  entry->request.num_sge = static_cast<int>(segments.size());
}

void SendBatch::set_inline(std::span<const ibv_data_buf> buffers) {
  Entry* entry = last();
  if (entry == nullptr) return;
  if (entry->has_data) return note(EINVAL);
  std::size_t total = 0;
  for (const ibv_data_buf& buffer : buffers) {
    if (buffer.length > max_inline_ - total) return note(EINVAL);
    total += buffer.length;
  }
  note(or_no_memory([&] {
    for (const ibv_data_buf& buffer : buffers) {
      const auto* from = static_cast<const std::uint8_t*>(buffer.addr);
      bytes_.insert(bytes_.end(), from, from + buffer.length);
    }
    // Its address follows in link(), once bytes_ has stopped growing.
    segments_.push_back({.addr = 0, .length = static_cast<std::uint32_t>(total), .lkey = 0});
  }));
  entry->has_data = true;
  entry->request.num_sge = 1;
  entry->request.send_flags |= IBV_SEND_INLINE;
}

int SendBatch::check(const rnic::QueuePair& queue) const {
  if (error_ != 0) return error_;
  for (const Entry& entry : entries_) {
    if (type_ == IBV_QPT_UD && entry.request.wr.ud.ah == nullptr) return EINVAL;
    if (entry.request.opcode == IBV_WR_BIND_MW) {
      if (const int error = queue.check_bind(entry.request)) return error;
    }
    const bool reads = entry.request.opcode == IBV_WR_RDMA_READ ||
                       entry.request.opcode == IBV_WR_ATOMIC_CMP_AND_SWP ||
                       entry.request.opcode == IBV_WR_ATOMIC_FETCH_AND_ADD;
    if (reads && (entry.request.send_flags & IBV_SEND_INLINE) != 0) return EINVAL;
  }
  return 0;
}

void SendBatch::link() {
  for (std::size_t i = 0; i < entries_.size(); ++i) {
    Entry& entry = entries_[i];
    entry.request.next = i + 1 < entries_.size() ? &entries_[i + 1].request : nullptr;
    entry.request.sg_list = segments_.data() + entry.first_segment;
    if ((entry.request.send_flags & IBV_SEND_INLINE) != 0) {
      entry.request.sg_list->addr =
          reinterpret_cast<std::uintptr_t>(bytes_.data() + entry.first_byte);
    }
  }
}

std::uint64_t SendBatch::bytes() const {
  std::uint64_t sum = 0;
  for (const ibv_sge& segment : segments_) sum += segment.length;
  return sum;
}

// Everything that could make the queue pair refuse a request after it took the one before is
// checked first: all or none. Only this thread adds to the ring now, so the room found stays.
int SendBatch::complete(rnic::QueuePair& queue) {
  const std::unique_lock guard(posting_, std::adopt_lock);
  if (const int error = check(queue)) return error;
  if (entries_.empty()) return 0;
  {
    const std::lock_guard ring_guard(queue.send_lock());
    const rnic::SendRing& ring = queue.send_ring();
    if (entries_.size() > ring.capacity() - ring.size()) return ENOMEM;
  }
  link();
  const ibv_send_wr* bad = nullptr;
  return queue.post_send(&entries_.front().request, &bad);
}

}  // namespace gdr::verbs
