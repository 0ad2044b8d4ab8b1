// Peers: the processes that have met this one, by slot, and the answer to "is it alive".
//
//   peers.show({.segment = fd, .doorbell = fd, ...});       // first of all
//   peers.meet_everyone();                                  // at start: calls whoever is there
//   Result<std::shared_ptr<Peer>> peer = peers.find(slot);  // calls there if it is not known yet
//
// Any thread. The first call at a slot waits for the other's service thread, at most
// kAnswerPatience; later ones only look whether it has answered meanwhile. Calls that are made
// together have one patience together.
#pragma once

#include <unistd.h>

#include <atomic>
#include <functional>
#include <memory>
#include <optional>
#include <shared_mutex>
#include <unordered_map>
#include <vector>

#include "peers/handshake.h"
#include "peers/peer.h"
#include "rnic/shared_lock.h"

namespace gdr::peers {

class Peers : public rnic::Liveness {
 public:
  Peers(rnic::Token self, int doorbell) : self_(self), own_{.token = self, .doorbell = doorbell} {}
  // From here on others can meet this process. The segment outlives the Peers.
  void show(rnic::Segment& segment);
  // Called with the connection of a meeting that waits for the other side: go_on_meeting() is to be
  // called once, when it can be read. The lock is held, so that nobody closes the connection.
  void on_waiting(std::function<void(int)> watch) { watch_ = std::move(watch); }
  // Called with each that is met, on the thread that met it.
  void on_met(std::function<void(Peer&)> tell) { tell_ = std::move(tell); }

  rnic::Token self() const { return self_; }

  void meet_everyone();
  // What its segment says to others, where another process may have written anything.
  void set_copies_by_gpu() { copies_by_gpu_.store(true); }
  // ECONNREFUSED: nobody (any more) is there; EAGAIN: whoever is there has not answered yet; EBUSY:
  // who was there is dead, and its GPU may still be copying.
  Result<std::shared_ptr<Peer>> find(std::uint32_t slot);
  std::shared_ptr<Peer> known(std::uint32_t slot) const;
  std::vector<std::shared_ptr<Peer>> everyone() const;
  // With those that had not answered in time and have by now: for what goes to all.
  std::vector<std::shared_ptr<Peer>> everyone_by_now();
  // Whether each process that holds a slot now has been met, but for those that cannot be met and
  // those that have been silent for kSilencePatience. Calls who was not, takes what they have
  // answered, and does not wait.
  bool knows_everyone();
  // The same of one slot.
  bool is_settled(std::uint32_t slot);

  // Service thread: somebody calls here.
  void answer(UniqueFd connection);
  // Service thread: this connection can be read, or has ended. The peer that was met, if one was.
  std::shared_ptr<Peer> go_on_meeting(int connection);
  // The slots of those that were alive when it was last called.
  std::vector<std::uint32_t> forget_dead();
  // Whether a dead process that had not ended when it was forgotten has ended by now.
  bool somebody_has_ended() const;

  bool alive(rnic::Token token) override;
  bool has_threads(rnic::Token token) override;
  bool cut_off(rnic::Token token, rnic::HeldFor purpose, Nanoseconds waited) override;

  // Around a fork. In the child: closes what would keep the parent's connections open.
  void prepare_fork() { mutex_.lock(); }
  void parent_of_fork() { mutex_.unlock(); }
  void child_of_fork();

 private:
  struct Meeting {
    std::uint32_t slot = 0;  // that was called; 0: this process was
    Handshake handshake;
    Nanoseconds began = now();
    Nanoseconds waits_since = began;  // for the other side's next message
  };

  Result<std::shared_ptr<Peer>> call(std::uint32_t slot);
  Result<Meeting> begin(std::uint32_t slot, Nanoseconds deadline);
  std::optional<Meeting> take_waiting(std::uint32_t slot);
  void keep_waiting(Meeting meeting);
  // Null: it waits for the other side.
  Result<std::shared_ptr<Peer>> go_on(Meeting& meeting);
  Result<std::shared_ptr<Peer>> finish(Meeting& meeting);
  Result<std::shared_ptr<Peer>> hear(Meeting meeting, Nanoseconds deadline);
  std::shared_ptr<Peer> adopt(Identity identity, Introduction introduction, UniqueFd connection);
  bool is_leaving(std::uint32_t slot) const;
  std::shared_ptr<Peer> with(rnic::Token token) const;

  const rnic::Token self_;
  Face own_;
  std::atomic<bool> copies_by_gpu_{false};
  ActivityWatch own_activity_{getpid()};
  std::function<void(int)> watch_;
  std::function<void(Peer&)> tell_;
  mutable std::shared_mutex mutex_;
  std::unordered_map<std::uint32_t, std::shared_ptr<Peer>> by_slot_;
  // Dead, and their GPUs may still be copying: they hold what they held. Their slots may be
  // others'.
  std::vector<std::shared_ptr<Peer>> leaving_;
  // Meetings that wait for the other side. Never closed from this side: whoever answers a call
  // later would take its end for this process's death.
  std::vector<Meeting> waiting_;
};

}  // namespace gdr::peers
