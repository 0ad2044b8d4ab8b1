// ServiceThread: sleeps until another process needs this one: it calls at the slot, rings the
// doorbell (an event to deliver, a queue pair to flush, bytes to copy that only this process can
// reach), or dies.
#pragma once

#include <atomic>

#include "base/result.h"
#include "base/unique_fd.h"
#include "peers/answers.h"
#include "peers/doorbell.h"
#include "peers/peers.h"
#include "rnic/adapter.h"

namespace gdr::peers {

class Opener;

class ServiceThread {
 public:
  ServiceThread(Peers& peers, UniqueFd listener, Doorbell doorbell);

  Result<void> start(rnic::Adapter& adapter, Opener& opener);
  void ring() const { ring_doorbell(doorbell_.outer.get()); }
  // Watches for the death of a peer that was met from this side.
  void watch(Peer& peer);
  // Goes on with a meeting when its connection can be read.
  void watch_meeting(int connection);
  // Returns when a copy that was in progress for another process has ended.
  void settle();
  // How often one has begun or ended: odd while it is in progress.
  std::uint64_t copies() const { return copies_.load(); }
  void close_in_child();

 private:
  void run();
  void wait_and_sort(bool left);
  void answer_calls();
  void pause_calls();
  void look_around();
  void handle_deaths();
  bool somebody_died();
  void serve_requests();
  int copy(const rnic::ServiceRequest& request, rnic::Token initiator);
  bool add_to_epoll(int descriptor, std::uint64_t tag);
  void arm(int descriptor, std::uint64_t tag);

  Peers& peers_;
  rnic::Adapter* adapter_ = nullptr;
  Opener* opener_ = nullptr;
  UniqueFd listener_, epoll_;
  Doorbell doorbell_;
  Answers answers_;
  bool somebody_died_ = false;
  Nanoseconds looked_around_at_ = 0;
  Nanoseconds calls_paused_until_ = 0;  // 0: they are not
  std::atomic<std::uint64_t> copies_{0};
};

}  // namespace gdr::peers
