#include "presence/redirect.h"

#include <atomic>
#include <cstdlib>
#include <cstring>

#include "presence/folders.h"

namespace gdr::presence {
namespace {

constexpr std::string_view kNodePrefix = "/dev/infiniband/uverbs";

// Copied: a program may change its environment.
struct Root {
  std::size_t length = 0;
  char text[PATH_MAX / 2] = {};
};

const Root& read_root() {
  static Root read;
  static std::atomic<int> state{0};  // 1: being read, 2: read
  int expected = 0;
  if (state.load(std::memory_order_acquire) == 2) return read;
  if (state.compare_exchange_strong(expected, 1)) {
    const char* value = std::getenv("GDR_PRESENCE_ROOT");
    const std::size_t length = value != nullptr ? std::strlen(value) : 0;
    if (length < sizeof read.text && length > 1 && value[0] == '/') {
      std::memcpy(read.text, value, length);
      read.length = length;
    }
    state.store(2, std::memory_order_release);
    return read;
  }
  static const Root kNone;
  return state.load(std::memory_order_acquire) == 2 ? read : kNone;
}

bool is_in_tree(std::string_view path) {
  for (const std::string_view folder : kFolders) {
    if (path.starts_with(folder) && (path.size() == folder.size() || path[folder.size()] == '/')) {
      return true;
    }
  }
  return false;
}

// uverbs0 to uverbs99.
int number_of(std::string_view path) {
  if (!path.starts_with(kNodePrefix)) return -1;
  const std::string_view digits = path.substr(kNodePrefix.size());
  if (digits.empty() || digits.size() > 2) return -1;
  int number = 0;
  for (const char digit : digits) {
    if (digit < '0' || digit > '9') return -1;
    number = number * 10 + (digit - '0');
  }
  return number;
}

}  // namespace

std::string_view root() {
  const Root& read = read_root();
  return {read.text, read.length};
}

Redirection::Redirection(const char* path) : path_(path) {
  // What most calls are told apart by.
  if (path == nullptr || path[0] != '/' || (path[1] != 's' && path[1] != 'd')) return;
  const std::string_view text(path);
  if (!is_in_tree(text)) return;
  const std::string_view folder = root();
  if (folder.empty() || folder.size() + text.size() >= sizeof room_) return;
  std::memcpy(room_, folder.data(), folder.size());
  std::memcpy(room_ + folder.size(), text.data(), text.size() + 1);
  path_ = room_;
  device_ = number_of(text);
}

}  // namespace gdr::presence
