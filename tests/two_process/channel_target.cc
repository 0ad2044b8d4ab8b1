#include "channel_target.h"

#include <fcntl.h>
#include <poll.h>
#include <sys/stat.h>

#include <algorithm>
#include <chrono>

namespace gdr::test {
namespace {

constexpr int kReceives = 4;

}  // namespace

ChannelTarget::ChannelTarget(Wire& wire, std::size_t queues, Channels channels)
    : memory_(&side_.memory(4096)) {
  for (std::size_t i = 0; i < queues; ++i) {
    if (i == 0 || channels == Channels::kOneEach) {
      channels_.push_back(ibv_create_comp_channel(side_.context()));
      require(channels_.back() != nullptr, "a channel");
    }
    queues_.push_back(ibv_create_cq(side_.context(), 16, nullptr, channels_.back(), 0));
    require(queues_.back() != nullptr, "a completion queue");
    pairs_.push_back(side_.queue_pair(IBV_QPT_RC, 4, false, queues_.back()));
    for (int n = 0; n < kReceives; ++n) side_.receive(pairs_[i], {memory_->segment(0, 64)});
    wire.send(side_.endpoint(pairs_[i]));
    side_.connect(pairs_[i], wire.receive<Endpoint>());
  }
  wire.meet();
}

ChannelTarget::~ChannelTarget() {
  for (ibv_qp* pair : pairs_) ibv_destroy_qp(pair);
  for (ibv_cq* queue : queues_) ibv_destroy_cq(queue);
  for (ibv_comp_channel* channel : channels_) ibv_destroy_comp_channel(channel);
}

void ChannelTarget::arm() {
  for (ibv_cq* queue : queues_) require(ibv_req_notify_cq(queue, 0) == 0, "armed");
}

std::size_t ChannelTarget::number_of(const ibv_cq* queue) const {
  const auto found = std::find(queues_.begin(), queues_.end(), queue);
  require(found != queues_.end(), "a queue of this channel");
  return static_cast<std::size_t>(found - queues_.begin());
}

std::size_t ChannelTarget::wait(std::size_t channel) {
  ibv_cq* queue = nullptr;
  void* context = nullptr;
  require(ibv_get_cq_event(channels_[channel], &queue, &context) == 0, "an event");
  ibv_ack_cq_events(queue, 1);
  return number_of(queue);
}

int ChannelTarget::try_wait() {
  ibv_cq* queue = nullptr;
  void* context = nullptr;
  if (ibv_get_cq_event(channels_[0], &queue, &context) != 0) return errno;
  ibv_ack_cq_events(queue, 1);
  return 0;
}

int ChannelTarget::poll_one(std::size_t queue) {
  ibv_wc completion{};
  const int found = ibv_poll_cq(queues_[queue], 1, &completion);
  require(found >= 0, "the completion queue is in order");
  if (found == 0) return 0;
  require(completion.status == IBV_WC_SUCCESS, ibv_wc_status_str(completion.status));
  side_.receive(pairs_[queue], {memory_->segment(0, 64)});
  return 1;
}

void ChannelTarget::empty() {
  for (std::size_t i = 0; i < queues_.size(); ++i) {
    while (poll_one(i) == 1) continue;
  }
}

void ChannelTarget::take_completion() {
  require(soon([&] { return poll_one(0) != 0; }), "a completion");
}

void ChannelTarget::take_message() {
  (void)wait();
  take_completion();
  arm();
}

bool ChannelTarget::is_readable(int milliseconds) const {
  pollfd entry{descriptor(), POLLIN, 0};
  return poll(&entry, 1, milliseconds) == 1;
}

void ChannelTarget::make_non_blocking() const {
  require(fcntl(descriptor(), F_SETFL, fcntl(descriptor(), F_GETFL) | O_NONBLOCK) == 0,
          "non-blocking");
}

std::uint64_t ChannelTarget::inode() const {
  struct stat status {};
  require(fstat(descriptor(), &status) == 0, "its status");
  return status.st_ino;
}

Sender::Sender(Wire& wire, std::size_t queues) : memory_(&side_.memory(4096)) {
  for (std::size_t i = 0; i < queues; ++i) {
    pairs_.push_back(side_.queue_pair(IBV_QPT_RC, 4));
    const auto other = wire.receive<Endpoint>();
    wire.send(side_.endpoint(pairs_[i]));
    side_.connect(pairs_[i], other);
  }
  wire.meet();
}

void Sender::send(std::size_t queue) {
  side_.send(pairs_[queue], *memory_, 0, 64);
  side_.expect(IBV_WC_SUCCESS);
}

void relay(Wire& sender, Wire& target) {
  sender.send(target.receive<Endpoint>());
  target.send(sender.receive<Endpoint>());
  sender.meet();
  target.meet();
}

}  // namespace gdr::test
