#include "proof/lane.h"

#include <algorithm>

namespace gdr::proof {

Result<void> Lane::connect_end(End& end, const End& other) {
  Connect request;
  request.queue = end.queue;
  request.remote_number = other.queue_info.number;
  request.remote_packet_sequence = other.queue_info.packet_sequence;
  request.remote_lid = other.opened.lid;
  request.remote_gid = other.opened.gid;
  request.mtu = std::min(end.opened.mtu, other.opened.mtu);
  if (auto done = end.client->call(request); !done) return done.error();
  return {};
}

Result<void> Lane::connect(QueueKind kind) {
  disconnect();
  for (End* end : {near_, far_}) {
    Result<CreateQueue::Reply> queue = end->client->call(CreateQueue{kind});
    if (!queue) return queue.error();
    end->queue = queue->queue;
    end->queue_info = *queue;
  }
  // The target first: it must be ready before anything is sent.
  if (Result<void> done = connect_end(*far_, *near_); !done) return done;
  return connect_end(*near_, *far_);
}

void Lane::disconnect() {
  for (End* end : {near_, far_}) {
    if (end->queue == 0) continue;
    (void)static_cast<bool>(end->client->call(DestroyQueue{end->queue}));
    end->queue = 0;
  }
}

Range Lane::source(End& end, const Case& c) const {
  return {end.buffers[c.direction.from].id, kGuard + c.source_offset, c.size};
}

Range Lane::target(End& end, const Case& c) const {
  return {end.buffers[c.direction.to].id, kGuard + c.target_offset, c.size};
}

Result<void> Lane::prepare(End& end, const Range& data) {
  const Range window{data.buffer, data.from - kGuard, data.length + 2 * kGuard};
  if (auto done = step(end, Prepare{window, before_seed()}); !done) return done.error();
  return {};
}

Result<void> Lane::fill(End& end, const Range& data) {
  if (auto done = step(end, Fill{data, data_seed(), previous_seed()}); !done) return done.error();
  return {};
}

Result<Damage> Lane::look(End& end, const Range& data, Bytes literal) {
  return step(
      end, Examine{data, kGuard, data_seed(), before_seed(), previous_seed(), std::move(literal)});
}

Result<Completion> Lane::execute(Execute request) {
  request.queue = near_->queue;
  // Large transfers take their time: at worst 100 MB/s.
  request.milliseconds =
      milliseconds() + static_cast<std::uint32_t>(request.range.length / 100'000);
  return step(*near_, request);
}

Result<Completion> Lane::await_receive() {
  return far_->client->call(AwaitReceive{far_->queue, milliseconds()}, budget());
}

void Lane::next_case() { ++serial_; }

}  // namespace gdr::proof
