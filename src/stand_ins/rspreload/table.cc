#include "rspreload/table.h"

#include <unistd.h>

#include <algorithm>
#include <new>

namespace gdr::rspreload {
namespace {

constexpr int kPerPage = 1024, kPages = 1024;

struct Page {
  std::atomic<Connection*> at[kPerPage]{};
};

std::atomic<Page*> pages[kPages];
std::atomic<pid_t> owner{0};  // the process whose descriptors they are; 0: there are none yet

bool is_owner() { return owner.load(std::memory_order_acquire) == getpid(); }

std::atomic<Connection*>* slot_of(int fd) {
  if (fd < 0 || fd >= kPerPage * kPages) return nullptr;
  Page* page = pages[fd / kPerPage].load(std::memory_order_acquire);
  return page != nullptr ? &page->at[fd % kPerPage] : nullptr;
}

bool make_page(int fd) {
  Page* made = new (std::nothrow) Page;
  if (made == nullptr) return false;
  Page* expected = nullptr;
  if (!pages[fd / kPerPage].compare_exchange_strong(expected, made)) delete made;
  return true;
}

// Connections of the parent's rsockets are not let go of: that would end them.
void after_fork_in_child() {
  for (std::atomic<Page*>& one : pages) {
    Page* page = one.load(std::memory_order_relaxed);
    if (page == nullptr) continue;
    for (std::atomic<Connection*>& slot : page->at) {
      Connection* connection = slot.load(std::memory_order_relaxed);
      if (connection == nullptr) continue;
      // Held by a thread that the child does not have.
      pthread_mutex_init(&connection->handshake, nullptr);
      pthread_mutex_init(&connection->watch_mutex, nullptr);
      // The parent's instances are its own to change. They are not freed: that thread may have been
      // half way.
      connection->watches = nullptr;
      const bool is_parents = connection->rsocket.load() >= 0 || connection->listener >= 0;
      if (is_parents) slot.store(nullptr, std::memory_order_relaxed);
    }
  }
  begin_anew_in_child();
  owner.store(getpid(), std::memory_order_release);
}

bool own() {
  static const int registered = [] {
    owner.store(getpid(), std::memory_order_release);
    return pthread_atfork(nullptr, nullptr, after_fork_in_child);
  }();
  (void)registered;
  return is_owner();
}

}  // namespace

Held find(int fd) {
  std::atomic<Connection*>* slot = slot_of(fd);
  if (slot == nullptr) return {};
  Connection* found = slot->load(std::memory_order_acquire);
  if (found == nullptr || !is_owner()) return {};
  Held held = hold(*found);
  // Closed meanwhile, and perhaps another descriptor's by now.
  return slot->load(std::memory_order_acquire) == found ? std::move(held) : Held();
}

bool put(int fd, Held connection) {
  if (fd < 0 || fd >= kPerPage * kPages || !own()) return false;
  if (slot_of(fd) == nullptr && !make_page(fd)) return false;
  // What was there was closed past this library.
  const Held before(slot_of(fd)->exchange(connection.release()));
  return true;
}

Held take(int fd) {
  std::atomic<Connection*>* slot = slot_of(fd);
  if (slot == nullptr || slot->load(std::memory_order_acquire) == nullptr || !is_owner()) return {};
  return Held(slot->exchange(nullptr));
}

Held take_first_of(unsigned first, unsigned last, int& fd) {
  const unsigned end = std::min(last, unsigned{kPerPage * kPages - 1});
  for (unsigned at = first; at <= end; ++at) {
    if (pages[at / kPerPage].load(std::memory_order_acquire) == nullptr) {
      at |= kPerPage - 1;  // nothing on this page
      continue;
    }
    if (Held taken = take(static_cast<int>(at))) {
      fd = static_cast<int>(at);
      return taken;
    }
  }
  return {};
}

}  // namespace gdr::rspreload
