// Connection: what is behind a socket of the program that is an rsocket, or becomes one. The
// program's descriptor is an ordinary socket of the same kind, its front: it gives the number, the
// flags and the type that the kernel shows, and it is what is left where there is no RDMA.
//
// Descriptors that dup() made share one connection. It ends with the last of them and the last call
// that is inside.
#pragma once

#include <pthread.h>

#include <atomic>
#include <cstdint>
#include <utility>

namespace gdr::rspreload {

enum class Stage : int {
  kRsocket,    // calls go to the rsocket
  kEventPoll,  // an epoll instance, with one of repoll_create() behind it
  kPlain,      // calls go to the front: there is no RDMA on the way
  // With RDMAV_FORK_SAFE the front is connected by TCP first, and by RDMA in the process that uses
  // it (fork_handshake.h):
  kUnconnected,
  kListening,
  kActive,   // connect() was called
  kPassive,  // accept() returned it
  kFailed,   // half way: neither has it
};

struct Watch;

struct Connection {
  std::atomic<int> references{0};
  std::atomic<Stage> stage{Stage::kPlain};
  std::atomic<int> rsocket{-1};
  std::atomic<bool> is_bound{false};  // by the program
  int type = 0;                       // SOCK_STREAM or SOCK_DGRAM

  // For the handshake, which one thread does at a time.
  pthread_mutex_t handshake = PTHREAD_MUTEX_INITIALIZER;
  int listener = -1;  // an rsocket

  // Who watches it by epoll (watches.h).
  pthread_mutex_t watch_mutex = PTHREAD_MUTEX_INITIALIZER;
  Watch* watches = nullptr;

  std::atomic<std::uint64_t> life{0};  // how often it has been made

  Connection* next_unused = nullptr;
};

// A reference. Whoever gives the last one back closes the rsocket; errno stays.
class Held {
 public:
  Held() = default;
  explicit Held(Connection* connection) : connection_(connection) {}
  Held(Held&& other) noexcept : connection_(std::exchange(other.connection_, nullptr)) {}
  Held& operator=(Held&& other) noexcept {
    std::swap(connection_, other.connection_);
    return *this;
  }
  ~Held();

  explicit operator bool() const { return connection_ != nullptr; }
  Connection* operator->() const { return connection_; }
  Connection& operator*() const { return *connection_; }
  // One more.
  Held again() const;
  Connection* release() { return std::exchange(connection_, nullptr); }

 private:
  Connection* connection_ = nullptr;
};

// Nothing: it has ended. Any connection, as they are never freed.
Held hold(Connection& connection);

// Knows a connection without keeping it.
class ConnectionMark {
 public:
  explicit ConnectionMark(Connection& connection)
      : connection_(&connection), life_(connection.life.load()) {}

  // Nothing: it has ended.
  Held held() const;
  bool is(const Connection& held) const {
    return connection_ == &held && life_ == held.life.load();
  }

 private:
  Connection* connection_;
  std::uint64_t life_;
};

// Nothing: no memory.
Held make_connection(Stage stage, int rsocket, int type);
// After a fork(), in which another thread may have been inside.
void begin_anew_in_child();

}  // namespace gdr::rspreload
