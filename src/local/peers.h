// Peers: the processes that have met this one, by slot, and the answer to "is it alive".
//
//   peers.meet_everyone();                                  // at start: calls at every slot
//   Result<std::shared_ptr<Peer>> peer = peers.find(slot);  // calls there if it is not known yet
//
// Any thread. The first call at a slot waits for the other's service thread, at most some 300 ms;
// later ones only look whether it has answered meanwhile.
#pragma once

#include <memory>
#include <optional>
#include <shared_mutex>
#include <unordered_map>
#include <vector>

#include "local/handshake.h"
#include "local/peer.h"
#include "rnic/shared_lock.h"

namespace gdr::local {

class Peers : public rnic::Liveness {
 public:
  // What this process shows of itself: its doorbell, and from show() on its segment. Both are
  // borrowed and outlive the Peers.
  Peers(rnic::Token self, int doorbell) : self_(self), doorbell_(doorbell) {}
  void show(int segment) { segment_ = segment; }

  rnic::Token self() const { return self_; }

  void meet_everyone();
  // ECONNREFUSED: nobody (any more) is there; EAGAIN: whoever is there has not answered yet; EBUSY:
  // who was there is dead, and its GPU may still be copying.
  Result<std::shared_ptr<Peer>> find(std::uint32_t slot);
  std::shared_ptr<Peer> known(std::uint32_t slot) const;
  std::vector<std::shared_ptr<Peer>> everyone() const;
  // With those that had not answered in time and have by now: for what goes to all.
  std::vector<std::shared_ptr<Peer>> everyone_by_now();

  // Service thread: somebody calls here. The peer, if it was not known before.
  std::shared_ptr<Peer> answer(UniqueFd connection);
  void forget_dead();
  // Of those that are dead, and had not ended when they were forgotten: whether one has by now.
  bool somebody_has_ended() const;

  bool alive(rnic::Token token) override;
  bool has_threads(rnic::Token token) override;

  // Around a fork. In the child: closes what would keep the parent's connections open.
  void prepare_fork() { mutex_.lock(); }
  void parent_of_fork() { mutex_.unlock(); }
  void child_of_fork();

 private:
  Result<std::shared_ptr<Peer>> call(std::uint32_t slot);
  Result<UniqueFd> introduce_to(std::uint32_t slot);
  std::optional<UniqueFd> take_unanswered(std::uint32_t slot);
  Result<std::shared_ptr<Peer>> hear(std::uint32_t slot, UniqueFd connection, Wait wait);
  std::shared_ptr<Peer> adopt(int pid, Introduction introduction, UniqueFd connection);
  bool is_leaving(std::uint32_t slot) const;
  std::shared_ptr<Peer> with(rnic::Token token) const;

  const rnic::Token self_;
  const int doorbell_;
  int segment_ = -1;
  mutable std::shared_mutex mutex_;
  std::unordered_map<std::uint32_t, std::shared_ptr<Peer>> by_slot_;
  // Dead, and their GPUs may still be copying: they hold what they held. Their slots may be
  // others'.
  std::vector<std::shared_ptr<Peer>> leaving_;
  // By slot: calls that were not answered in time. Never closed from this side: whoever answers one
  // later would take its end for this process's death.
  std::unordered_multimap<std::uint32_t, UniqueFd> unanswered_;
};

}  // namespace gdr::local
