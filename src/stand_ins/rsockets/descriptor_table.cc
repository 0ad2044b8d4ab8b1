#include "rsockets/descriptor_table.h"

#include <cerrno>
#include <new>
#include <shared_mutex>
#include <unordered_map>

namespace gdr::rsockets {
namespace {

struct Table {
  std::shared_mutex mutex;
  std::unordered_map<int, std::shared_ptr<Socket>> sockets;
};

// Never destroyed: threads of the program may still use it while it exits.
Table& table() {
  static Table* const all = new Table;
  return *all;
}

}  // namespace

int add_socket(std::shared_ptr<Socket> socket) {
  const int descriptor = socket->descriptor();
  try {
    const std::unique_lock lock(table().mutex);
    table().sockets[descriptor] = std::move(socket);
  } catch (const std::bad_alloc&) {
    return -ENOMEM;
  }
  return descriptor;
}

std::shared_ptr<Socket> find_socket(int descriptor) {
  const std::shared_lock lock(table().mutex);
  const auto found = table().sockets.find(descriptor);
  return found == table().sockets.end() ? nullptr : found->second;
}

std::shared_ptr<Socket> remove_socket(int descriptor) {
  const std::unique_lock lock(table().mutex);
  const auto found = table().sockets.find(descriptor);
  if (found == table().sockets.end()) return nullptr;
  std::shared_ptr<Socket> socket = std::move(found->second);
  table().sockets.erase(found);
  return socket;
}

}  // namespace gdr::rsockets
