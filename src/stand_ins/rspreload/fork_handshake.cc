#include "rspreload/fork_handshake.h"

#include <netinet/in.h>
#include <rdma/rsocket.h>

#include <cerrno>
#include <cstdint>
#include <ctime>

#include "rspreload/inside.h"
#include "rspreload/options.h"
#include "rspreload/real.h"
#include "rspreload/watches.h"

namespace gdr::rspreload {
namespace {

constexpr std::uint32_t kGoAhead = 0;
constexpr long kBetweenTries = 1'000'000;  // nanoseconds

sockaddr* raw(sockaddr_storage& address) { return reinterpret_cast<sockaddr*>(&address); }

// Both sides see that it is over.
Handshake fail(Connection& connection, int front) {
  if (connection.listener >= 0) rclose(std::exchange(connection.listener, -1));
  real().shutdown(front, SHUT_RDWR);
  connection.stage.store(Stage::kFailed);
  errno = ECONNRESET;
  return Handshake::kFailed;
}

Handshake stay_plain(Connection& connection) {
  connection.stage.store(Stage::kPlain);
  return Handshake::kDone;
}

Handshake become(Connection& connection, int front, int rsocket) {
  set_sizes(rsocket);
  copy_options(front, rsocket);
  {
    const WatchLock lock(connection);
    // Before its end, which it would report.
    stop_watching_front(connection);
    real().shutdown(front, SHUT_RDWR);
    connection.rsocket.store(rsocket);
    connection.stage.store(Stage::kRsocket);
    if (watch_again(connection, front)) return Handshake::kDone;
    connection.rsocket.store(-1);
  }
  rclose(rsocket);
  return fail(connection, front);
}

enum class Word { kGo, kOther, kNone, kInterrupted };

bool wait_a_little() {
  const timespec pause{0, kBetweenTries};
  return nanosleep(&pause, nullptr) == 0;
}

// The passive side's word, which stays where it is: if it is none, the program reads it.
Word await_word(int front, bool may_wait) {
  int longest = 0;
  for (;;) {
    pollfd one{front, POLLIN, 0};
    const int ready = real().poll(&one, 1, longest);
    if (ready < 0) return Word::kInterrupted;
    // An error is left for the program: a recv() would take it.
    if ((one.revents & (POLLERR | POLLNVAL)) != 0) return Word::kOther;
    std::uint32_t word = kGoAhead;
    const ssize_t length =
        ready == 0 ? 0 : real().recv(front, &word, sizeof word, MSG_PEEK | MSG_DONTWAIT);
    if (ready != 0 && length <= 0) return Word::kOther;
    // A part of it fills the rest with zeros.
    if (length > 0 && word != kGoAhead) return Word::kOther;
    if (length == sizeof word) return Word::kGo;
    if (!may_wait) return Word::kNone;
    // A part stays readable, so poll() does not wait for the rest.
    if (length > 0) wait_a_little();
    longest = -1;
  }
}

Handshake connect_back(Connection& connection, int front, bool may_wait) {
  switch (await_word(front, may_wait)) {
    case Word::kOther:
      return stay_plain(connection);
    case Word::kNone:
      return Handshake::kWaits;
    case Word::kInterrupted:
      return Handshake::kFailed;
    case Word::kGo:
      break;
  }
  sockaddr_storage peer{};
  socklen_t length = sizeof peer;
  if (real().getpeername(front, raw(peer), &length) != 0) return fail(connection, front);
  const int rsocket = ::rsocket(peer.ss_family, SOCK_STREAM, 0);
  if (rsocket < 0) return fail(connection, front);
  // Who listens there accepts at once, so this waits though the program must not.
  if (rconnect(rsocket, raw(peer), length) != 0) {
    rclose(rsocket);
    return fail(connection, front);
  }
  return become(connection, front, rsocket);
}

// At the TCP port, on every address. Less than 0: errno says why.
int listen_beside(int front) {
  sockaddr_storage own{};
  socklen_t length = sizeof own;
  if (real().getsockname(front, raw(own), &length) != 0) return -1;
  if (own.ss_family == AF_INET6) {
    reinterpret_cast<sockaddr_in6&>(own).sin6_addr = in6addr_any;
    reinterpret_cast<sockaddr_in6&>(own).sin6_scope_id = 0;
  } else {
    reinterpret_cast<sockaddr_in&>(own).sin_addr.s_addr = htonl(INADDR_ANY);
  }
  const int listener = rsocket(own.ss_family, SOCK_STREAM, 0);
  if (listener < 0) return -1;
  set_sizes(listener);
  if (rbind(listener, raw(own), length) == 0 && rlisten(listener, 1) == 0 &&
      rfcntl(listener, F_SETFL, O_NONBLOCK) == 0) {
    return listener;
  }
  const int error = errno;
  rclose(listener);
  errno = error;
  return -1;
}

bool has_gone(int front) {
  pollfd one{front, POLLRDHUP, 0};
  return real().poll(&one, 1, 0) == 1;
}

Handshake accept_beside(Connection& connection, int front, bool may_wait) {
  while (connection.listener < 0) {
    const int listener = listen_beside(front);
    if (listener >= 0) {
      connection.listener = listener;
      if (real().send(front, &kGoAhead, sizeof kGoAhead, MSG_NOSIGNAL) == sizeof kGoAhead) break;
      return fail(connection, front);
    }
    if (errno != EADDRINUSE || has_gone(front)) return fail(connection, front);
    if (!may_wait) return Handshake::kWaits;
    if (!wait_a_little()) return Handshake::kFailed;
  }
  for (;;) {
    // The peer ends its TCP connection when it is connected by RDMA.
    const bool is_last = has_gone(front);
    const int accepted = raccept(connection.listener, nullptr, nullptr);
    if (accepted >= 0) {
      rclose(std::exchange(connection.listener, -1));
      return become(connection, front, accepted);
    }
    if (errno != EAGAIN || is_last) return fail(connection, front);
    if (!may_wait) return Handshake::kWaits;
    pollfd both[2]{{connection.listener, POLLIN, 0}, {front, POLLRDHUP, 0}};
    const Inside inside;
    if (rpoll(both, 2, -1) < 0) return Handshake::kFailed;
  }
}

}  // namespace

bool is_undecided(const Connection& connection) {
  const Stage stage = connection.stage.load();
  return stage == Stage::kActive || stage == Stage::kPassive;
}

Handshake shake_hands(Connection& connection, int front, bool may_wait) {
  if (may_wait) {
    pthread_mutex_lock(&connection.handshake);
  } else if (pthread_mutex_trylock(&connection.handshake) != 0) {
    return Handshake::kWaits;
  }
  Handshake result = Handshake::kDone;
  switch (connection.stage.load()) {
    case Stage::kActive:
      result = connect_back(connection, front, may_wait);
      break;
    case Stage::kPassive:
      result = accept_beside(connection, front, may_wait);
      break;
    default:
      break;
  }
  pthread_mutex_unlock(&connection.handshake);
  return result;
}

pollfd awaited(const Connection& connection, int front) {
  if (connection.stage.load() == Stage::kActive) return {front, POLLIN, 0};
  return {connection.listener, POLLIN, 0};
}

}  // namespace gdr::rspreload
