#include "rsockets/event_poll.h"

#include <sys/eventfd.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <limits>

#include "base/system_calls.h"
#include "rsockets/wait_for_ready.h"

namespace gdr::rsockets {
namespace {

using std::chrono::milliseconds;

// The bits of epoll and of poll are the same numbers (epoll_ctl(2)).
short poll_events(const epoll_event& event) { return static_cast<short>(event.events & 0x7FFF); }

}  // namespace

int EventPoll::create(int flags, std::shared_ptr<EventPoll>& made) {
  const int kernel = system_epoll(flags);
  if (kernel < 0) return -errno;
  made.reset(new EventPoll(kernel));
  return 0;
}

bool EventPoll::Member::has_edge(std::uint64_t edges) const {
  return is_fresh || (event.events & EPOLLET) == 0 || edges != seen;
}

Readiness EventPoll::Member::due(Socket& of) const {
  if (is_disarmed) return {};
  const Readiness found = of.ready(poll_events(event));
  return has_edge(found.edges) ? found : Readiness{};
}

int EventPoll::control(int operation, int descriptor, const std::shared_ptr<Socket>& socket,
                       const epoll_event* event) {
  if (operation != EPOLL_CTL_ADD && operation != EPOLL_CTL_MOD && operation != EPOLL_CTL_DEL) {
    return -EINVAL;
  }
  if (event == nullptr && operation != EPOLL_CTL_DEL) return -EFAULT;
  const std::lock_guard lock(mutex_);
  if (socket) return control_member(operation, descriptor, socket, event);
  // The kernel writes nothing to it.
  auto* for_kernel = const_cast<epoll_event*>(event);
  return system_epoll_ctl(kernel_.get(), operation, descriptor, for_kernel) != 0 ? -errno : 0;
}

int EventPoll::control_member(int operation, int descriptor, const std::shared_ptr<Socket>& socket,
                              const epoll_event* event) {
  std::erase_if(members_, [](const auto& one) { return one.second.socket.expired(); });
  const auto found = members_.find(descriptor);
  if (operation == EPOLL_CTL_DEL) {
    if (found == members_.end()) return -ENOENT;
    members_.erase(found);
    return 0;
  }
  if (operation == EPOLL_CTL_ADD && found != members_.end()) return -EEXIST;
  if (operation == EPOLL_CTL_MOD && found == members_.end()) return -ENOENT;
  Member& member = members_[descriptor];
  member = {};
  member.socket = socket;
  member.event = *event;
  return kick();
}

// Whoever sleeps looks at the members again: one at once, others with their next look. Nobody else
// may find the instance readable for it.
int EventPoll::kick() {
  if (sleepers_ == 0) return 0;
  if (!kick_) {
    UniqueFd made(eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK));
    if (!made) return -errno;
    epoll_event event{};
    event.events = EPOLLIN | EPOLLET;
    event.data.ptr = this;
    if (system_epoll_ctl(kernel_.get(), EPOLL_CTL_ADD, made.get(), &event) != 0) return -errno;
    kick_ = std::move(made);
  }
  return eventfd_write(kick_.get(), 1) != 0 ? -errno : 0;
}

std::size_t EventPoll::take_ordinary(std::span<epoll_event> into) {
  if (into.empty()) return 0;
  const int count = system_epoll_wait(kernel_.get(), into.data(), static_cast<int>(into.size()), 0);
  if (count <= 0) return 0;
  const auto events = into.first(static_cast<std::size_t>(count));
  // Edge-triggered, the kick has done its work when it was reported.
  const auto end = std::remove_if(events.begin(), events.end(),
                                  [this](const epoll_event& one) { return one.data.ptr == this; });
  return static_cast<std::size_t>(end - events.begin());
}

std::size_t EventPoll::take_members(std::span<epoll_event> into) {
  std::size_t taken = 0;
  auto one = members_.lower_bound(next_);
  for (std::size_t left = members_.size(); left > 0 && taken < into.size(); --left, ++one) {
    if (one == members_.end()) one = members_.begin();
    Member& member = one->second;
    const std::shared_ptr<Socket> socket = member.socket.lock();
    if (!socket) continue;
    const Readiness due = member.due(*socket);
    if (due.events == 0) continue;
    // Those of the look: one that another thread has counted since is still to be told.
    member.seen = due.edges;
    member.is_fresh = false;
    member.is_disarmed = (member.event.events & EPOLLONESHOT) != 0;
    into[taken].events = static_cast<std::uint32_t>(due.events);
    into[taken].data = member.event.data;
    ++taken;
    next_ = one->first + 1;
  }
  return taken;
}

int EventPoll::take(std::span<epoll_event> into) {
  const std::lock_guard lock(mutex_);
  std::size_t taken = 0;
  if (ordinary_first_) taken += take_ordinary(into);
  taken += take_members(into.subspan(taken));
  if (!ordinary_first_) taken += take_ordinary(into.subspan(taken));
  ordinary_first_ = !ordinary_first_;
  return static_cast<int>(taken);
}

// How many are due: then nobody sleeps.
std::size_t EventPoll::prepare_members(std::vector<pollfd>& sleep_on,
                                       std::vector<std::shared_ptr<Socket>>& asleep) {
  std::size_t due = 0;
  for (const auto& [descriptor, member] : members_) {
    const std::shared_ptr<Socket> socket = member.socket.lock();
    if (!socket || member.is_disarmed) continue;
    // What is ready but was reported is no reason to stay awake; what comes next is.
    const bool is_quiet = !member.has_edge(socket->edges());
    const short found =
        socket->prepare_sleep(is_quiet ? short{0} : poll_events(member.event), sleep_on);
    if ((found != 0 && !is_quiet) || (is_quiet && member.has_edge(socket->edges()))) ++due;
    asleep.push_back(socket);
  }
  return due;
}

int EventPoll::sleep(milliseconds longest) {
  std::vector<pollfd> sleep_on{{kernel_.get(), POLLIN, 0}};
  std::vector<std::shared_ptr<Socket>> asleep;
  {
    const std::lock_guard lock(mutex_);
    if (prepare_members(sleep_on, asleep) != 0) return 0;
    ++sleepers_;
  }
  const int count = ::poll(sleep_on.data(), sleep_on.size(), static_cast<int>(longest.count()));
  const int result = count < 0 ? -errno : 0;
  for (const auto& socket : asleep) socket->woken();
  const std::lock_guard lock(mutex_);
  --sleepers_;
  return result;
}

int EventPoll::wait(std::span<epoll_event> into, std::optional<Clock::duration> timeout) {
  if (into.empty()) return -EINVAL;
  bool spins = false;
  {
    const std::lock_guard lock(mutex_);
    spins = !members_.empty();
  }
  return wait_for_ready(
      spins, timeout, [&] { return take(into); },
      [&](milliseconds longest) { return sleep(longest); });
}

std::vector<std::shared_ptr<Socket>> EventPoll::sockets() {
  const std::lock_guard lock(mutex_);
  std::vector<std::shared_ptr<Socket>> all;
  for (const auto& [descriptor, member] : members_) {
    if (std::shared_ptr<Socket> socket = member.socket.lock()) all.push_back(std::move(socket));
  }
  return all;
}

// As poll() of an epoll descriptor: readable where a wait would find something.
Readiness EventPoll::ready(short events) {
  const auto wanted = static_cast<short>(events & (POLLIN | POLLRDNORM));
  if (wanted == 0) return {};
  pollfd kernel{kernel_.get(), POLLIN, 0};
  if (::poll(&kernel, 1, 0) > 0) return {wanted, 0};
  const std::lock_guard lock(mutex_);
  const bool any = std::ranges::any_of(members_, [](const auto& one) {
    const std::shared_ptr<Socket> socket = one.second.socket.lock();
    return socket && one.second.due(*socket).events != 0;
  });
  return {any ? wanted : short{0}, 0};
}

short EventPoll::prepare_sleep(short events, std::vector<pollfd>& sleep_on) {
  std::vector<std::shared_ptr<Socket>> asleep;
  const std::size_t before = sleep_on.size();
  const auto wanted = static_cast<short>(events & (POLLIN | POLLRDNORM));
  const std::lock_guard lock(mutex_);
  if (prepare_members(sleep_on, asleep) != 0) {
    sleep_on.resize(before);
    if (wanted != 0) return wanted;
  }
  sleep_on.push_back({kernel_.get(), POLLIN, 0});
  return 0;
}

void EventPoll::woken() {
  for (const auto& socket : sockets()) socket->woken();
}

}  // namespace gdr::rsockets
