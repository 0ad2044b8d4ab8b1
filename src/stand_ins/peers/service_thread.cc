#include "peers/service_thread.h"

#include <sys/epoll.h>
#include <sys/socket.h>
#include <unistd.h>

#include <cerrno>
#include <utility>

#include "base/quiet_thread.h"
#include "base/system_calls.h"
#include "memory/own_memory.h"
#include "peers/opener.h"
#include "rnic/delivery/registered_bytes.h"

namespace gdr::peers {
namespace {

// Tags of what epoll watches; a peer's pidfd has its slot's number, which is below these.
constexpr std::uint64_t kListener = 1u << 20;
constexpr std::uint64_t kDoorbell = kListener + 1;
constexpr std::uint64_t kMeeting = std::uint64_t{1} << 32;  // and the connection

// Milliseconds after which it looks around unasked: for what no ring told. Also while it has much
// to do; the coarse clock may be some milliseconds behind.
constexpr int kTick = 1000;
constexpr Nanoseconds kBetweenLooks = (kTick - 100) * kMillisecond;
// Without a free descriptor no call can be taken; the callers wait meanwhile.
constexpr Nanoseconds kCallsPause = 100 * kMillisecond;
constexpr Nanoseconds kSettleNap = 50 * kMicrosecond;

}  // namespace

ServiceThread::ServiceThread(Peers& peers, UniqueFd listener, Doorbell doorbell)
    : peers_(peers), listener_(std::move(listener)), doorbell_(std::move(doorbell)) {}

Result<void> ServiceThread::start(rnic::Adapter& adapter, Opener& opener) {
  adapter_ = &adapter;
  opener_ = &opener;
  epoll_.reset(system_epoll(EPOLL_CLOEXEC));
  if (!epoll_ || !add_to_epoll(listener_.get(), kListener) ||
      !add_to_epoll(doorbell_.inner.get(), kDoorbell)) {
    return from_errno("epoll");
  }
  return start_quiet_thread("gdr-service", [this] { run(); });
}

bool ServiceThread::add_to_epoll(int descriptor, std::uint64_t tag) {
  epoll_event event{};
  // A death shows for as long as somebody still holds on to the peer, but is told once; a meeting
  // that is over leaves its connection behind.
  const bool once = tag < kListener || tag >= kMeeting;
  event.events = once ? EPOLLIN | EPOLLONESHOT : EPOLLIN;
  event.data.u64 = tag;
  return system_epoll_ctl(epoll_.get(), EPOLL_CTL_ADD, descriptor, &event) == 0;
}

void ServiceThread::arm(int descriptor, std::uint64_t tag) {
  epoll_event event{};
  event.events = EPOLLIN | EPOLLONESHOT;
  event.data.u64 = tag;
  system_epoll_ctl(epoll_.get(), EPOLL_CTL_MOD, descriptor, &event);
}

void ServiceThread::watch(Peer& peer) {
  // Already watched is fine: both sides may have called at once.
  if (peer.pidfd() >= 0) (void)add_to_epoll(peer.pidfd(), rnic::slot_of(peer.token()));
}

void ServiceThread::watch_meeting(int connection) {
  const std::uint64_t tag = kMeeting + static_cast<std::uint64_t>(connection);
  if (!add_to_epoll(connection, tag)) arm(connection, tag);
}

void ServiceThread::run() {
  bool left = false;
  while (true) {
    wait_and_sort(left);
    // Before looking: whoever rings from now on sends again. Not only after a ring: its process
    // may have died between marking it and sending.
    rnic::SegmentHeader& header = adapter_->segment().header();
    header.service_rung.store(0);
    if (std::exchange(somebody_died_, false)) handle_deaths();
    if (header.exports_rung.exchange(0) != 0) opener_->look();
    serve_requests();
    answers_.free_forgotten(adapter_->segment(), coarse_now());
    adapter_->look_after_locks();
    left = adapter_->serve();
  }
}

// Waits until there is something to do, and does what came with a descriptor.
void ServiceThread::wait_and_sort(bool left) {
  epoll_event events[16];
  const int patience = left ? 1 : calls_paused_until_ != 0 ? kTick / 10 : kTick;
  const int count = system_epoll_wait(epoll_.get(), events, 16, patience);
  // The program has closed it (closefrom): nothing can be waited for any more.
  if (count < 0 && errno != EINTR) usleep(kTick * 100);
  if (const Nanoseconds time = coarse_now(); time - looked_around_at_ >= kBetweenLooks) {
    looked_around_at_ = time;
    look_around();
  }
  for (int i = 0; i < count; ++i) {
    const std::uint64_t tag = events[i].data.u64;
    if (tag >= kMeeting) {
      (void)peers_.go_on_meeting(static_cast<int>(tag - kMeeting));
    } else if (tag == kListener) {
      answer_calls();
    } else if (tag == kDoorbell) {
      doorbell_.take_ring();
    } else {
      somebody_died_ = true;
    }
  }
  if (calls_paused_until_ != 0 && now() >= calls_paused_until_ &&
      add_to_epoll(listener_.get(), kListener)) {
    calls_paused_until_ = 0;
  }
}

// What nobody tells: a death without a pidfd, a process that was stopped between pushing a
// completion and telling of it.
void ServiceThread::look_around() {
  somebody_died_ |= somebody_died();
  adapter_->deliver_missed_events();
}

void ServiceThread::answer_calls() {
  while (true) {
    UniqueFd connection(accept4(listener_.get(), nullptr, nullptr, SOCK_CLOEXEC | SOCK_NONBLOCK));
    if (connection) {
      peers_.answer(std::move(connection));
      continue;
    }
    const bool none_waits = errno == EAGAIN || errno == EWOULDBLOCK;
    if (errno == EINTR || errno == ECONNABORTED) continue;
    if (!none_waits) pause_calls();
    return;
  }
}

// The call stays where it is and would be told again at once.
void ServiceThread::pause_calls() {
  system_epoll_ctl(epoll_.get(), EPOLL_CTL_DEL, listener_.get(), nullptr);
  calls_paused_until_ = now() + kCallsPause;
}

void ServiceThread::handle_deaths() {
  for (const std::shared_ptr<Peer>& peer : peers_.everyone()) {
    // The pidfd of a dead process that has not ended stays: it tells the end.
    if (peer->pidfd() < 0 || !peer->has_ended()) continue;
    system_epoll_ctl(epoll_.get(), EPOLL_CTL_DEL, peer->pidfd(), nullptr);
  }
  for (const std::uint32_t slot : peers_.forget_dead()) {
    if (adapter_->beyond() != nullptr) adapter_->beyond()->process_ended(slot);
  }
  // What the dead had asked of this process is answered to nobody. By token, so that it does not
  // matter who noticed a death, or when.
  for (std::uint32_t i = 0; i < rnic::kServiceRequests; ++i) {
    std::atomic<std::uint64_t>& word = adapter_->segment().service_request(i).word;
    std::uint64_t seen = word.load();
    if (seen != 0 && !peers_.alive(rnic::service_initiator(seen))) {
      word.compare_exchange_strong(seen, 0);
    }
  }
  adapter_->deliver_missed_events();
  wake_sleeper(adapter_->segment().header());
}

// Whoever died without this thread being told: a peer without a pidfd, one that called exec.
bool ServiceThread::somebody_died() {
  for (const std::shared_ptr<Peer>& peer : peers_.everyone()) {
    if (!peer->check_alive()) return true;
  }
  return peers_.somebody_has_ended();
}

void ServiceThread::serve_requests() {
  using rnic::service_word;
  using rnic::ServiceState;
  for (std::uint32_t i = 0; i < rnic::kServiceRequests; ++i) {
    rnic::ServiceRequest& request = adapter_->segment().service_request(i);
    std::uint64_t word = request.word.load();
    const rnic::Token initiator = rnic::service_initiator(word);
    const std::uint64_t taken = service_word(initiator, ServiceState::kTaken);
    if (rnic::service_state(word) != ServiceState::kAsked) continue;
    // From before it is taken: whoever settles waits for it from then on.
    copies_.fetch_add(1);
    const bool is_taken = request.word.compare_exchange_strong(word, taken);
    if (is_taken) request.result = static_cast<std::uint32_t>(copy(request, initiator));
    copies_.fetch_add(1);
    if (!is_taken) continue;
    word = taken;
    answers_.note(i, coarse_now());
    if (!request.word.compare_exchange_strong(word,
                                              service_word(initiator, ServiceState::kAnswered))) {
      request.word.store(0);  // abandoned meanwhile
    }
    if (const std::shared_ptr<Peer> peer = peers_.known(rnic::slot_of(initiator))) {
      peer->wake_engine();
    }
  }
}

int ServiceThread::copy(const rnic::ServiceRequest& request, rnic::Token initiator) {
  const std::shared_ptr<Peer> peer = peers_.known(rnic::slot_of(initiator));
  if (peer == nullptr || peer->token() != initiator || !peer->alive()) return ESRCH;
  using rnic::read_once;
  const std::uint64_t length = read_once(request.length), address = read_once(request.address);
  const bool write = read_once(request.write) != 0;
  void* staging = peer->segment().arena(read_once(request.staging), length);
  if (staging == nullptr || length > rnic::kMostServed) return EINVAL;
  rnic::Place place;
  if (adapter_->regions().find(
          read_once(request.key), address, length, read_once(request.protection_domain),
          write ? IBV_ACCESS_LOCAL_WRITE : 0, &place) != rnic::RegionError::kNone) {
    return EACCES;
  }
  // The null region has no bytes, and whoever asks for some lies about where they are.
  if (place.reach == rnic::Reach::kNothing) return EACCES;
  if (place.cpu_reachable()) {
    // By the kernel, so that memory unmapped under its registration is an error and not a fault.
    const iovec here{staging, length}, there{reinterpret_cast<void*>(place.address), length};
    return write ? memory::copy_own({&here, 1}, {&there, 1})
                 : memory::copy_own({&there, 1}, {&here, 1});
  }
  const rnic::Side here{reinterpret_cast<std::uint64_t>(staging), nullptr};
  const rnic::Side there = place.memory->side_at(place.address);
  return rnic::copy_by_client(place.memory->client(), write ? there : here, write ? here : there,
                              length);
}

void ServiceThread::settle() {
  const std::uint64_t present = copies();
  while (present % 2 == 1 && copies() == present) usleep(kSettleNap / kMicrosecond);
}

void ServiceThread::close_in_child() {
  listener_.reset();
  doorbell_ = {};
  epoll_.reset();
}

}  // namespace gdr::peers
