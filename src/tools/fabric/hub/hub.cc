#include "fabric/hub/hub.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <netinet/in.h>
#include <sys/epoll.h>
#include <sys/resource.h>
#include <sys/socket.h>

#include <algorithm>
#include <array>

#include "fabric/collector/said.h"
#include "perf/listen.h"

namespace gdr::fabric {
namespace {

constexpr std::size_t kLargestGreeting = 4 << 10;
// Of what a member says in one message: 64 rails with a problem each.
constexpr std::size_t kLargestWord = 256 << 10;
constexpr Nanoseconds kGreetingLimit = 20 * kSecond;
constexpr Nanoseconds kFarewell = 2 * kSecond;
constexpr Nanoseconds kToEnd = 5 * kSecond;            // for a peer that was told to end
constexpr Nanoseconds kPause = 100 * kMillisecond;     // without a descriptor for one more
constexpr Nanoseconds kLook = 200 * kMillisecond;      // between two looks at an interruption
constexpr Nanoseconds kShortLook = 10 * kMillisecond;  // while members are coming
// Connections that have not said who they are, or were told to end.
constexpr std::size_t kMostStrangers = 4096;
constexpr int kBacklog = 4096;
constexpr int kMostAccepted = 256;  // before those who are there are heard again
constexpr std::size_t kPiece = 64 << 10;

// A Knock as far as every version has it.
struct Preface {
  std::uint32_t magic = 0, protocol = 0;
  std::string version;
  std::uint32_t rank = UINT32_MAX;  // of nobody, where the message ends before it
  GDR_FIELDS(magic, protocol, version, rank)
};

Result<UniqueFd> listen_with(int family, std::uint16_t port) {
  UniqueFd fd(socket(family, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0));
  if (!fd) return from_errno("socket");
  const int yes = 1, no = 0;
  setsockopt(fd.get(), SOL_SOCKET, SO_REUSEADDR, &yes, sizeof yes);
  sockaddr_storage address{};
  socklen_t length = sizeof(sockaddr_in);
  if (family == AF_INET6) {
    setsockopt(fd.get(), IPPROTO_IPV6, IPV6_V6ONLY, &no, sizeof no);
    auto* six = reinterpret_cast<sockaddr_in6*>(&address);
    six->sin6_family = AF_INET6;
    six->sin6_port = htons(port);
    length = sizeof *six;
  } else {
    auto* four = reinterpret_cast<sockaddr_in*>(&address);
    four->sin_family = AF_INET;
    four->sin_port = htons(port);
  }
  if (bind(fd.get(), reinterpret_cast<sockaddr*>(&address), length) != 0) return from_errno("bind");
  if (::listen(fd.get(), kBacklog) != 0) return from_errno("listen");
  return fd;
}

// One descriptor for each member: the usual soft limit is 1,024.
void allow_many_descriptors() {
  rlimit limit{};
  if (getrlimit(RLIMIT_NOFILE, &limit) != 0) return;
  limit.rlim_cur = limit.rlim_max;
  setrlimit(RLIMIT_NOFILE, &limit);
}

}  // namespace

Result<std::unique_ptr<Hub>> Hub::make(HubOptions options) {
  allow_many_descriptors();
  std::unique_ptr<Hub> hub(new Hub(std::move(options)));
  hub->epoll_.reset(epoll_create1(EPOLL_CLOEXEC));
  if (!hub->epoll_) return from_errno("epoll_create1");
  return hub;
}

Result<std::uint16_t> Hub::listen(std::uint16_t port) {
  Result<UniqueFd> fd = listen_with(AF_INET6, port);  // serves IPv4, too
  if (!fd && fd.error().code != EADDRINUSE) fd = listen_with(AF_INET, port);
  if (!fd) {
    return Error{fd.error().code, fmt::format("listening on TCP port {}: {}; choose another one "
                                              "with --port",
                                              port, fd.error().message)};
  }
  sockaddr_storage address{};
  socklen_t length = sizeof address;
  if (getsockname(fd->get(), reinterpret_cast<sockaddr*>(&address), &length) != 0) {
    return from_errno("getsockname");
  }
  epoll_event event{};
  event.events = EPOLLIN;
  event.data.fd = fd->get();
  if (epoll_ctl(epoll_.get(), EPOLL_CTL_ADD, fd->get(), &event) != 0)
    return from_errno("epoll_ctl");
  listening_ = *std::move(fd);
  return ntohs(address.ss_family == AF_INET6
                   ? reinterpret_cast<const sockaddr_in6&>(address).sin6_port
                   : reinterpret_cast<const sockaddr_in&>(address).sin_port);
}

Result<Hub::Peer*> Hub::take_in(UniqueFd socket, bool is_own) {
  fcntl(socket.get(), F_SETFL, fcntl(socket.get(), F_GETFL) | O_NONBLOCK);
  auto peer = std::make_unique<Peer>();
  peer->arriving.set_most(kLargestGreeting);
  peer->is_own = is_own;
  peer->share.emplace(share_of(is_own ? "" : token_));
  epoll_event event{};
  event.events = EPOLLIN | EPOLLRDHUP;
  event.data.fd = socket.get();
  if (epoll_ctl(epoll_.get(), EPOLL_CTL_ADD, socket.get(), &event) != 0) {
    return from_errno("epoll_ctl");
  }
  const int number = socket.get();
  peer->fd = std::move(socket);
  Peer* const added = (peers_[number] = std::move(peer)).get();
  bound(*added, now() + kGreetingLimit);
  Welcome welcome;
  welcome.version = options_.version;
  welcome.point = added->share->point();
  say(*added, Talk::number_of<Welcome>(), process::encode(welcome));
  return added;
}

Result<void> Hub::add(MemberId member, UniqueFd socket) {
  Result<Peer*> peer = take_in(std::move(socket), true);
  if (!peer) return peer.error();
  (*peer)->member = member;
  bound(**peer, kNever);
  if (of_member_.size() <= member) of_member_.resize(member + 1u);
  of_member_[member] = *peer;
  return {};
}

void Hub::bound(Peer& peer, Nanoseconds deadline) {
  bounded_.erase({peer.deadline, &peer});
  peer.deadline = deadline;
  if (deadline != kNever) bounded_.insert({deadline, &peer});
}

void Hub::watch_listening(bool is_watched) {
  epoll_event event{};
  event.events = is_watched ? std::uint32_t{EPOLLIN} : 0;
  event.data.fd = listening_.get();
  epoll_ctl(epoll_.get(), EPOLL_CTL_MOD, listening_.get(), &event);
  listens_again_ = is_watched ? std::nullopt : std::optional(now() + kPause);
}

// A member says who it is at once, so whoever has been silent longest makes room for one more.
void Hub::accept_all() {
  for (int i = 0; i < kMostAccepted; ++i) {
    UniqueFd fd(accept4(listening_.get(), nullptr, nullptr, SOCK_CLOEXEC | SOCK_NONBLOCK));
    if (!fd && (errno == EMFILE || errno == ENFILE || errno == ENOBUFS || errno == ENOMEM)) {
      // It stays ready meanwhile, and would be looked at again and again.
      if (bounded_.empty()) return watch_listening(false);
      drop(*bounded_.begin()->second, nullptr, "");
      continue;
    }
    if (!fd) return;
    if (bounded_.size() >= kMostStrangers) drop(*bounded_.begin()->second, nullptr, "");
    perf::keep_alive(fd.get());
    (void)take_in(std::move(fd), false);  // who cannot be watched is not let in
  }
}

void Hub::say(Peer& peer, std::uint8_t kind, const Bytes& bytes) {
  const Bytes all = process::frame(kind, bytes, peer.leaving_seal ? &*peer.leaving_seal : nullptr);
  peer.leaving.insert(peer.leaving.end(), all.begin(), all.end());
  flush(peer);
}

void Hub::say_last(Peer& peer, std::uint8_t kind, const Bytes& bytes) {
  peer.ends = true;
  bound(peer, std::min(peer.deadline, now() + kToEnd));
  say(peer, kind, bytes);
}

void Hub::flush(Peer& peer) {
  while (peer.left < peer.leaving.size()) {
    const ssize_t sent = send(peer.fd.get(), peer.leaving.data() + peer.left,
                              peer.leaving.size() - peer.left, MSG_NOSIGNAL | MSG_DONTWAIT);
    if (sent < 0 && errno == EINTR) continue;
    if (sent < 0 && errno == EAGAIN) break;  // full
    if (sent < 0) {
      // Nobody takes it any more. The next read tells that it has ended, or its answer never comes.
      peer.left = peer.leaving.size();
      break;
    }
    peer.left += static_cast<std::size_t>(sent);
  }
  const bool is_empty = peer.left == peer.leaving.size();
  if (is_empty) {
    peer.leaving.clear();
    peer.left = 0;
    if (peer.ends) shutdown(peer.fd.get(), SHUT_WR);
  }
  if (peer.wants_out == !is_empty) return;
  peer.wants_out = !is_empty;
  epoll_event event{};
  event.events = EPOLLIN | EPOLLRDHUP | (is_empty ? 0u : std::uint32_t{EPOLLOUT});
  event.data.fd = peer.fd.get();
  epoll_ctl(epoll_.get(), EPOLL_CTL_MOD, peer.fd.get(), &event);
}

void Hub::refuse(Peer& peer, const std::string& why) {
  say_last(peer, Talk::number_of<Failure>(), process::encode(Failure{EACCES, why}));
}

// Also a member whose rank is known by its socket proves and seals: there is one way in.
void Hub::greet(Peer& peer, const process::Received& received, Collector& collector) {
  Preface preface;
  process::Decoder decoder(received.bytes);
  preface.visit(decoder);
  if (received.kind != Talk::number_of<Knock>() || preface.magic != kMagic) {
    return refuse(peer, "this is the collector of gdr fabric");
  }
  peer.rank = peer.is_own ? *peer.member : preface.rank;
  const Result<Knock> decoded = process::decode<Knock>(received.bytes);
  const Knock knock = decoded ? *decoded : Knock{};
  const std::optional<process::Agreement> agreement =
      agree_on(*peer.share, knock.point, Side::kServer, peer.rank,
               endpoint_of(peer.fd.get(), Side::kServer));
  const bool is_proved =
      agreement && process::are_equal(knock.proof, agreement->proof(Side::kClient));
  if (preface.protocol != kProtocol || preface.version != options_.version) {
    const std::string why = fmt::format(
        "it runs gdrkit {}, and the collector {}: install the same "
        "version",
        said(preface.version, kMostName), options_.version);
    // Whoever does not know the token must not be able to have a host left out.
    const bool is_known = peer.is_own || token_.empty() || is_proved;
    if (is_known && is_free(peer.rank, peer)) {
      collector.handle_refusal(peer.rank, HostState::kLeftOut, why, now());
    }
    return refuse(peer, why);
  }
  if (!is_proved) return refuse(peer, "the token of the run is another one");
  say(peer, Talk::number_of<Admitted>(),
      process::encode(Admitted{agreement->proof(Side::kServer)}));
  peer.leaving_seal.emplace(agreement->frame_key(Side::kServer));
  peer.arriving_seal.emplace(agreement->frame_key(Side::kClient));
  peer.arriving.set_most(kLargestGreeting + process::Seal::kBytes);
}

bool Hub::is_free(MemberId rank, const Peer& peer) const {
  if (peer.is_own) return true;
  return rank >= options_.own_members && rank < members_ && of_member_[rank] == nullptr;
}

void Hub::let_join(Peer& peer, const process::Received& received, Collector& collector) {
  const Result<Join> join = process::decode<Join>(received.bytes);
  if (received.kind != Talk::number_of<Join>() || !join) {
    return refuse(peer, "it does not say where it is");
  }
  const MemberId rank = peer.rank;
  if (rank >= members_) return refuse(peer, fmt::format("rank {} is not of this run", rank));
  if (!is_free(rank, peer)) {
    // Both know the token, so which of them lies is not known here; the socket of an own one is.
    if (rank >= options_.own_members && collector.is_gathering()) {
      const std::string why = fmt::format(
          "two processes say that they are rank {}: one of them may lie, so neither takes part",
          rank);
      collector.handle_refusal(rank, HostState::kLeftOut, why, now());
    }
    return refuse(peer, fmt::format("rank {} has joined already", rank));
  }
  peer.member = rank;
  peer.has_joined = true;
  bound(peer, kNever);
  peer.arriving.set_most(kLargestWord + process::Seal::kBytes);
  of_member_[rank] = &peer;
  collector.handle_join(rank, *join, now());
}

void Hub::take(Peer& peer, const process::Received& received, Collector& collector) {
  if (!peer.arriving_seal) return greet(peer, received, collector);
  if (!peer.has_joined) return let_join(peer, received, collector);
  collector.handle_message(*peer.member, received, now());
}

// What is not read now is told of again, so nobody who sends without a pause holds up the others.
void Hub::read(Peer& peer, Collector& collector) {
  std::array<std::byte, kPiece> piece;
  const ssize_t got = recv(peer.fd.get(), piece.data(),
                           peer.has_joined ? piece.size() : kLargestGreeting, MSG_DONTWAIT);
  if (got < 0 && (errno == EINTR || errno == EAGAIN)) return;
  if (got <= 0) return drop(peer, &collector, "its process has ended, or its host");
  if (peer.ends) return;  // nothing that it says counts any more
  peer.arriving.add(std::span(piece).first(static_cast<std::size_t>(got)));
  while (!peer.ends) {
    Result<std::optional<process::Received>> message = peer.arriving.next();
    if (!message) return drop(peer, &collector, "it sent what is no message of gdr fabric");
    if (!*message) return;
    if (peer.arriving_seal) {
      const Result<void> opened = peer.arriving_seal->open(**message);
      if (!opened) return drop(peer, &collector, opened.error().message);
    }
    take(peer, **message, collector);
  }
}

void Hub::drop(Peer& peer, Collector* collector, const std::string& why) {
  const std::optional<MemberId> member = peer.member;
  const bool tells = member && !peer.ends && (peer.has_joined || peer.is_own);
  const bool has_joined = peer.has_joined;
  if (member && of_member_[*member] == &peer) of_member_[*member] = nullptr;
  bound(peer, kNever);
  peers_.erase(peer.fd.get());  // closes it, which takes it out of epoll
  if (!tells || collector == nullptr) return;
  std::string reason = options_.why_lost ? options_.why_lost(*member) : "";
  if (reason.empty()) reason = why;
  if (has_joined) return collector->handle_loss(*member, reason, now());
  collector->handle_refusal(*member, HostState::kNeverCame, reason, now());
}

void Hub::send_all(Collector& collector) {
  while (const std::optional<Outgoing> out = collector.poll_transmit()) {
    Peer* const peer = of_member_[out->member];
    if (peer == nullptr || peer->ends) continue;
    out->is_last ? say_last(*peer, out->kind, out->bytes) : say(*peer, out->kind, out->bytes);
  }
}

void Hub::drop_late() {
  const Nanoseconds time = now();
  while (!bounded_.empty() && bounded_.begin()->first <= time) {
    drop(*bounded_.begin()->second, nullptr, "");
  }
  if (listens_again_ && time >= *listens_again_) watch_listening(true);
}

void Hub::show_life() {
  const Nanoseconds time = now();
  if (time < shows_life_) return;
  shows_life_ = time + kHeartbeat;
  for (const auto& [number, peer] : peers_) {
    if (peer->has_joined && !peer->ends) say(*peer, Talk::number_of<process::Nothing>(), {});
  }
}

bool Hub::has_more_to_say() const {
  return std::ranges::any_of(peers_, [](const auto& entry) {
    return entry.second->member && entry.second->left < entry.second->leaving.size();
  });
}

void Hub::serve(Collector& collector, std::size_t members, const std::atomic<bool>& interrupted) {
  members_ = members;
  of_member_.resize(std::max(members, of_member_.size()));
  std::array<epoll_event, 256> events;
  Nanoseconds farewell = UINT64_MAX;
  for (;;) {
    send_all(collector);
    const Nanoseconds time = now();
    if (collector.has_finished()) {
      farewell = std::min(farewell, time + kFarewell);
      if (!has_more_to_say() || time >= farewell) return;
    }
    show_life();
    if (interrupted.load()) collector.interrupt(time);
    if (options_.meanwhile) options_.meanwhile(collector);
    if (time >= collector.next_timeout()) collector.handle_time(time);
    const Nanoseconds next = collector.next_timeout();
    const Nanoseconds look = collector.is_gathering() ? kShortLook : kLook;
    const Nanoseconds wait = std::min(next > time ? next - time : 0, look);
    const int count = epoll_wait(epoll_.get(), events.data(), static_cast<int>(events.size()),
                                 static_cast<int>(wait / kMillisecond) + 1);
    for (int i = 0; i < count; ++i) {
      const epoll_event& event = events[static_cast<std::size_t>(i)];
      if (listening_ && event.data.fd == listening_.get()) {
        accept_all();
        continue;
      }
      const auto peer = peers_.find(event.data.fd);
      if (peer == peers_.end()) continue;  // dropped since
      if ((event.events & EPOLLOUT) != 0) flush(*peer->second);
      if ((event.events & ~std::uint32_t{EPOLLOUT}) != 0) read(*peer->second, collector);
    }
    drop_late();
  }
}

}  // namespace gdr::fabric
