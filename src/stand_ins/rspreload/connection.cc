#include "rspreload/connection.h"

#include <rdma/rsocket.h>

#include <cerrno>
#include <new>

#include "rspreload/watches.h"

namespace gdr::rspreload {
namespace {

// Connections are used again and never freed: who looks one up by a descriptor that another thread
// closes meanwhile must find memory of a connection there (table.cc).
pthread_mutex_t unused_mutex = PTHREAD_MUTEX_INITIALIZER;
Connection* unused = nullptr;

Connection* take_unused() {
  pthread_mutex_lock(&unused_mutex);
  Connection* taken = unused;
  if (taken != nullptr) unused = taken->next_unused;
  pthread_mutex_unlock(&unused_mutex);
  return taken != nullptr ? taken : new (std::nothrow) Connection;
}

void end(Connection& connection) {
  const int before = errno;
  const int rsocket = connection.rsocket.exchange(-1);
  if (rsocket >= 0) rclose(rsocket);
  if (connection.listener >= 0) rclose(std::exchange(connection.listener, -1));
  forget_watches(connection);
  pthread_mutex_lock(&unused_mutex);
  connection.next_unused = unused;
  unused = &connection;
  pthread_mutex_unlock(&unused_mutex);
  errno = before;
}

}  // namespace

Held::~Held() {
  if (connection_ != nullptr && connection_->references.fetch_sub(1) == 1) end(*connection_);
}

Held Held::again() const {
  connection_->references.fetch_add(1);
  return Held(connection_);
}

Held hold(Connection& connection) {
  int references = connection.references.load();
  do {
    if (references == 0) return {};
  } while (!connection.references.compare_exchange_weak(references, references + 1));
  return Held(&connection);
}

Held ConnectionMark::held() const {
  Held held = hold(*connection_);
  return held && is(*held) ? std::move(held) : Held();
}

Held make_connection(Stage stage, int rsocket, int type) {
  Connection* made = take_unused();
  if (made == nullptr) return {};
  made->stage.store(stage);
  made->rsocket.store(rsocket);
  made->is_bound.store(false);
  made->type = type;
  made->life.fetch_add(1);
  // Last: from now on others may hold it.
  made->references.store(1);
  return Held(made);
}

void begin_anew_in_child() {
  pthread_mutex_init(&unused_mutex, nullptr);
  unused = nullptr;
}

}  // namespace gdr::rspreload
