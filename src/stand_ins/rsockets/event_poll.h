// EventPoll: an instance of repoll_create(): epoll over rsockets and ordinary descriptors. The
// latter are the kernel's to watch, in the epoll instance whose descriptor this has; rsockets are
// looked at one after the other, as rpoll() does.
//
//   std::shared_ptr<EventPoll> poll;
//   if (int error = EventPoll::create(EPOLL_CLOEXEC, poll)) return error;
//   poll->control(EPOLL_CTL_ADD, fd, find_socket(fd), &event);
//   int count = poll->wait(events, std::chrono::seconds(1));
//
// Functions return what epoll's do, or a negated errno value. All of them may be called from any
// thread.
#pragma once

#include <sys/epoll.h>

#include <chrono>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <span>

#include "base/unique_fd.h"
#include "rsockets/socket.h"

namespace gdr::rsockets {

class EventPoll final : public Waitable {
 public:
  using Clock = std::chrono::steady_clock;

  static int create(int flags, std::shared_ptr<EventPoll>& made);

  // A real descriptor: what a plain poll() of it reports are ordinary descriptors' events only.
  int descriptor() const { return kernel_.get(); }

  // `socket`, unless null, is the one that `descriptor` stands for.
  int control(int operation, int descriptor, const std::shared_ptr<Socket>& socket,
              const epoll_event* event);
  // No timeout: for ever.
  int wait(std::span<epoll_event> into, std::optional<Clock::duration> timeout);

  Readiness ready(short events) override;
  short prepare_sleep(short events, std::vector<pollfd>& sleep_on) override;
  void woken() override;
  std::uint64_t edges() const override { return 0; }

 private:
  struct Member {
    std::weak_ptr<Socket> socket;  // a socket that is closed leaves, as with the kernel's epoll
    epoll_event event{};
    std::uint64_t seen = 0;    // its edges when it was last reported
    bool is_fresh = true;      // never reported since it was added or changed
    bool is_disarmed = false;  // EPOLLONESHOT

    // What is to be reported now, if anything.
    Readiness due(Socket& of) const;
    bool has_edge(std::uint64_t edges) const;
  };

  explicit EventPoll(int kernel) : kernel_(kernel) {}

  int control_member(int operation, int descriptor, const std::shared_ptr<Socket>& socket,
                     const epoll_event* event);
  int kick();
  std::size_t take_ordinary(std::span<epoll_event> into);
  std::size_t take_members(std::span<epoll_event> into);
  int take(std::span<epoll_event> into);
  std::size_t prepare_members(std::vector<pollfd>& sleep_on,
                              std::vector<std::shared_ptr<Socket>>& asleep);
  int sleep(std::chrono::milliseconds longest);
  std::vector<std::shared_ptr<Socket>> sockets();

  const UniqueFd kernel_;
  UniqueFd kick_;  // an eventfd in it, for those who sleep while members come
  std::mutex mutex_;
  std::map<int, Member> members_;  // by descriptor
  int sleepers_ = 0;
  int next_ = 0;  // the descriptor to begin with, so that none is starved
  bool ordinary_first_ = true;
};

}  // namespace gdr::rsockets
