#include "rsockets/descriptor_table.h"

#include <pthread.h>

#include <cerrno>
#include <new>
#include <shared_mutex>
#include <unordered_map>
#include <vector>

namespace gdr::rsockets {
namespace {

struct Table {
  std::shared_mutex mutex;
  std::unordered_map<int, std::shared_ptr<Socket>> sockets;
  std::unordered_map<int, std::shared_ptr<EventPoll>> event_polls;
};

Table* the_table = nullptr;

void before_fork() { the_table->mutex.lock(); }
void after_fork_in_parent() { the_table->mutex.unlock(); }
// Nothing of the parent's is destroyed: that would end its connections.
void after_fork_in_child() { the_table = new Table; }

// Never destroyed: threads of the program may still use it while it exits.
Table& table() {
  static const int made = [] {
    the_table = new Table;
    return pthread_atfork(before_fork, after_fork_in_parent, after_fork_in_child);
  }();
  (void)made;
  return *the_table;
}

template <typename Map, typename Kind>
int add(Map Table::*map, std::shared_ptr<Kind> one) {
  const int descriptor = one->descriptor();
  try {
    Table& all = table();
    const std::unique_lock lock(all.mutex);
    // One that the program has closed with close() is destroyed behind the lock.
    std::swap((all.*map)[descriptor], one);
  } catch (const std::bad_alloc&) {
    return -ENOMEM;
  }
  return descriptor;
}

template <typename Map>
typename Map::mapped_type find(Map Table::*map, int descriptor) {
  Table& all = table();
  const std::shared_lock lock(all.mutex);
  const auto found = (all.*map).find(descriptor);
  return found == (all.*map).end() ? nullptr : found->second;
}

template <typename Map>
typename Map::mapped_type remove(Map Table::*map, int descriptor) {
  Table& all = table();
  const std::unique_lock lock(all.mutex);
  const auto found = (all.*map).find(descriptor);
  if (found == (all.*map).end()) return nullptr;
  auto one = std::move(found->second);
  (all.*map).erase(found);
  return one;
}

}  // namespace

int add_socket(std::shared_ptr<Socket> socket) { return add(&Table::sockets, std::move(socket)); }
std::shared_ptr<Socket> find_socket(int descriptor) { return find(&Table::sockets, descriptor); }
std::shared_ptr<Socket> remove_socket(int descriptor) {
  return remove(&Table::sockets, descriptor);
}

int add_event_poll(std::shared_ptr<EventPoll> poll) {
  return add(&Table::event_polls, std::move(poll));
}
std::shared_ptr<EventPoll> find_event_poll(int descriptor) {
  return find(&Table::event_polls, descriptor);
}
std::shared_ptr<EventPoll> remove_event_poll(int descriptor) {
  return remove(&Table::event_polls, descriptor);
}

std::shared_ptr<Waitable> find_waitable(int descriptor) {
  if (std::shared_ptr<Socket> socket = find_socket(descriptor)) return socket;
  return find_event_poll(descriptor);
}

void close_all(std::chrono::steady_clock::duration longest) {
  if (the_table == nullptr) return;
  const auto until = std::chrono::steady_clock::now() + longest;
  std::vector<std::shared_ptr<Socket>> all;
  {
    Table& here = *the_table;
    // The thread that ends the process may be one that was interrupted inside.
    const std::unique_lock lock(here.mutex, std::try_to_lock);
    if (!lock) return;
    for (const auto& [descriptor, socket] : here.sockets) all.push_back(socket);
  }
  for (const auto& socket : all) socket->close_until(until);
}

}  // namespace gdr::rsockets
