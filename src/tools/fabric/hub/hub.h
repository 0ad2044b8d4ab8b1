// Hub: the sockets of a collector. It listens, lets members in who know the token, carries what
// the collector and its members tell each other, sealed, and wakes the collector when a time has
// come. It never waits for one member.
//
//   Result<std::unique_ptr<Hub>> hub = Hub::make({.version = version});
//   hub->add(0, std::move(socket));                       // a member on a socket of its own
//   Result<std::uint16_t> port = hub->listen(0);
//   hub->require_token(token);
//   hub->serve(collector, interrupted);                   // until the run is over
//
// Used by one thread.
#pragma once

#include <atomic>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <utility>

#include "base/result.h"
#include "base/unique_fd.h"
#include "fabric/collector/collector.h"
#include "fabric/hub/token.h"
#include "process/frames.h"

namespace gdr::fabric {

struct HubOptions {
  std::string version;  // gdrkit's: members have the same
  // Ranks below it are add()ed, so nobody who comes over the network is one of them.
  MemberId own_members = 0;
  // Why a socket that was added has ended, where its end says more ("ssh: No route to host").
  std::function<std::string(MemberId)> why_lost;
  // Called a few times a second, and more often while members are still coming.
  std::function<void(Collector&)> meanwhile;
};

class Hub {
 public:
  static Result<std::unique_ptr<Hub>> make(HubOptions options);

  // All addresses of this host. `port` 0: any. The port that it is.
  Result<std::uint16_t> listen(std::uint16_t port);
  // Whoever comes over the network knows it. Empty, as at first: everybody is let in.
  void require_token(const std::string& token) { token_ = token; }
  // A member that was started with the other end: nobody else has it, so it needs no token.
  Result<void> add(MemberId member, UniqueFd socket);

  // Until the collector has finished, and what it has to say was said.
  void serve(Collector& collector, std::size_t members, const std::atomic<bool>& interrupted);

 private:
  struct Peer {
    UniqueFd fd;
    process::FrameBuffer arriving{0};
    Bytes leaving;
    std::size_t left = 0;  // of `leaving`, in front
    std::optional<MemberId> member;
    bool is_own = false;  // its rank is known by its socket
    MemberId rank = 0;    // that it says it is, and shows by the token
    std::optional<process::Seal> leaving_seal, arriving_seal;  // since it was admitted
    bool has_joined = false;
    bool ends = false;       // once `leaving` is empty
    bool wants_out = false;  // epoll waits for room
    std::optional<process::Share> share;
    Nanoseconds deadline = kNever;  // when it is dropped: a stranger, or one that was told to end
  };
  static constexpr Nanoseconds kNever = UINT64_MAX;

  explicit Hub(HubOptions options) : options_(std::move(options)) {}
  Result<Peer*> take_in(UniqueFd socket, bool is_own);
  void accept_all();
  void watch_listening(bool is_watched);
  void bound(Peer& peer, Nanoseconds deadline);
  void read(Peer& peer, Collector& collector);
  void take(Peer& peer, const process::Received& received, Collector& collector);
  // Those of another version, or without the token, are told why.
  void greet(Peer& peer, const process::Received& received, Collector& collector);
  void let_join(Peer& peer, const process::Received& received, Collector& collector);
  bool is_free(MemberId rank, const Peer& peer) const;
  void refuse(Peer& peer, const std::string& why);
  void say(Peer& peer, std::uint8_t kind, const Bytes& bytes);
  void say_last(Peer& peer, std::uint8_t kind, const Bytes& bytes);
  void flush(Peer& peer);
  void send_all(Collector& collector);
  void drop_late();
  void show_life();
  void drop(Peer& peer, Collector* collector, const std::string& why);
  bool has_more_to_say() const;

  const HubOptions options_;
  std::string token_;
  UniqueFd epoll_, listening_;
  std::map<int, std::unique_ptr<Peer>> peers_;       // by descriptor
  std::vector<Peer*> of_member_;                     // null: not connected
  std::set<std::pair<Nanoseconds, Peer*>> bounded_;  // by deadline
  Nanoseconds shows_life_ = 0;                       // next
  std::optional<Nanoseconds> listens_again_;         // nothing: it listens
  std::size_t members_ = 0;
};

}  // namespace gdr::fabric
