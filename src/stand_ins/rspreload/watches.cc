#include "rspreload/watches.h"

#include <cerrno>
#include <memory>
#include <new>

#include "rspreload/repoll.h"
#include "rspreload/table.h"

namespace gdr::rspreload {

struct Watch {
  ConnectionMark poll;
  int fd = -1;  // by which the program has added it
  epoll_event event{};
  Watch* next = nullptr;
};

namespace {

// Whether epoll may have to watch something else later.
bool may_change(const Connection& connection) {
  switch (connection.stage.load()) {
    case Stage::kRsocket:
    case Stage::kUnconnected:
    case Stage::kActive:
    case Stage::kPassive:
      return true;
    default:
      return false;
  }
}

void erase(Watch*& at) {
  const std::unique_ptr<Watch> erased(at);
  at = erased->next;
}

void forget_ended(Connection& connection) {
  for (Watch** at = &connection.watches; *at != nullptr;) {
    if ((*at)->poll.held()) {
      at = &(*at)->next;
    } else {
      erase(*at);
    }
  }
}

// Where the watch is, or where it goes. The kernel tells duplicates apart, rsockets do not.
Watch*& place_of(Connection& connection, const Held& poll, int fd) {
  const bool by_number = connection.rsocket.load() < 0;
  Watch** at = &connection.watches;
  while (*at != nullptr && !((*at)->poll.is(*poll) && (!by_number || (*at)->fd == fd))) {
    at = &(*at)->next;
  }
  return *at;
}

bool leads_to(int fd, const Connection& connection) {
  const Held held = find(fd);
  return held && &*held == &connection;
}

int control(const Connection& poll, int operation, const Connection& connection, int fd,
            epoll_event* event) {
  const int rsocket = connection.rsocket.load();
  return repoll_ctl(poll.rsocket.load(), operation, rsocket >= 0 ? rsocket : fd, event);
}

}  // namespace

int control_watch(const Held& poll, int operation, Connection& connection, int fd,
                  epoll_event* event) {
  const WatchLock lock(connection);
  if (!may_change(connection)) return control(*poll, operation, connection, fd, event);
  forget_ended(connection);
  Watch*& place = place_of(connection, poll, fd);
  std::unique_ptr<Watch> made;
  if (place == nullptr && operation != EPOLL_CTL_DEL) {
    made.reset(new (std::nothrow) Watch{ConnectionMark(*poll), fd, {}, nullptr});
    if (!made) {
      errno = ENOMEM;
      return -1;
    }
  }
  if (control(*poll, operation, connection, fd, event) != 0) {
    const int error = errno;
    made.reset();
    errno = error;
    return -1;
  }
  if (operation == EPOLL_CTL_DEL) {
    if (place != nullptr) erase(place);
    return 0;
  }
  if (made) place = made.release();
  place->event = *event;
  return 0;
}

// A number that the program has closed meanwhile stands for nothing, or for another socket.
void stop_watching_front(Connection& connection) {
  for (const Watch* one = connection.watches; one != nullptr; one = one->next) {
    const Held poll = one->poll.held();
    if (!poll || !leads_to(one->fd, connection)) continue;
    repoll_ctl(poll->rsocket.load(), EPOLL_CTL_DEL, one->fd, nullptr);
  }
}

bool watch_again(Connection& connection, int front) {
  int error = 0;
  for (Watch* one = connection.watches; one != nullptr; one = one->next) {
    const Held poll = one->poll.held();
    if (!poll) continue;
    // By the number that the program knows it by, if that is there still.
    const int fd = leads_to(one->fd, connection) ? one->fd : front;
    if (control(*poll, EPOLL_CTL_ADD, connection, fd, &one->event) == 0) continue;
    // Duplicates have one watch of an rsocket.
    if (errno != EEXIST) error = errno;
  }
  if (error != 0) errno = error;
  return error == 0;
}

void forget_watches(Connection& connection) {
  while (connection.watches != nullptr) erase(connection.watches);
}

}  // namespace gdr::rspreload
