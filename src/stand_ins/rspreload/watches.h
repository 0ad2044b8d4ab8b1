// Watches: which epoll instances watch a connection, and for what. They watch its rsocket or its
// front; where one takes the other's place, the watches move along, so that the program sees one
// socket all the time.
//
//   return control_watch(poll, operation, *held, fd, event);   // as epoll_ctl()
//
//   const WatchLock lock(connection);
//   stop_watching_front(connection);
//   connection.rsocket.store(rsocket);
//   if (!watch_again(connection, front)) ...
//
// An instance that the program has closed is forgotten with the next epoll_ctl(), so there are no
// more watches than open instances.
#pragma once

#include <sys/epoll.h>

#include "rspreload/connection.h"

namespace gdr::rspreload {

// While it lives, nobody else changes the connection's watches or what they watch.
class WatchLock {
 public:
  explicit WatchLock(Connection& connection) : mutex_(connection.watch_mutex) {
    pthread_mutex_lock(&mutex_);
  }
  ~WatchLock() { pthread_mutex_unlock(&mutex_); }
  WatchLock(const WatchLock&) = delete;
  WatchLock& operator=(const WatchLock&) = delete;

 private:
  pthread_mutex_t& mutex_;
};

// `poll` is an epoll instance, `fd` a descriptor of the connection.
int control_watch(const Held& poll, int operation, Connection& connection, int fd,
                  epoll_event* event);

// These need the lock.
void stop_watching_front(Connection& connection);
// Each instance watches what the connection is now. It reports once more what is ready, also where
// it had reported that to an edge-triggered or one-shot watch. False: errno says why one cannot.
bool watch_again(Connection& connection, int front);

// Without the lock, by who has the connection alone.
void forget_watches(Connection& connection);

}  // namespace gdr::rspreload
