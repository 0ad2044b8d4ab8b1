#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstdlib>
#include <cstring>

#include "ledger/ledger.h"

namespace gdr::ledger {
namespace {

constexpr std::size_t kMostPath = 64;

bool is_ledger(int descriptor) {
  struct stat status {};
  if (fstat(descriptor, &status) != 0 || !S_ISREG(status.st_mode) ||
      static_cast<std::uint64_t>(status.st_size) != sizeof(Ledger)) {
    return false;
  }
  constexpr int kFixed = F_SEAL_SHRINK | F_SEAL_GROW;
  const int seals = fcntl(descriptor, F_GET_SEALS);
  if (seals < 0 || (seals & kFixed) != kFixed) return false;
  std::uint64_t head[2] = {};
  return pread(descriptor, head, sizeof head, 0) == sizeof head && head[0] == kMagic &&
         head[1] == sizeof(Ledger);
}

Ledger* map(int descriptor) {
  if (!is_ledger(descriptor)) return nullptr;
  void* base = mmap(nullptr, sizeof(Ledger), PROT_READ | PROT_WRITE, MAP_SHARED, descriptor, 0);
  return base == MAP_FAILED ? nullptr : static_cast<Ledger*>(base);
}

}  // namespace

Ledger* attach(const char* value) {
  const char* colon = value == nullptr ? nullptr : std::strrchr(value, ':');
  if (colon == nullptr || colon == value || colon[1] < '0' || colon[1] > '9') return nullptr;
  const auto length = static_cast<std::size_t>(colon - value);
  if (length >= kMostPath) return nullptr;
  char path[kMostPath];
  std::memcpy(path, value, length);
  path[length] = '\0';
  const int kept = errno;
  const int file = open(path, O_RDWR | O_CLOEXEC | O_NONBLOCK);
  Ledger* found = nullptr;
  if (file >= 0) {
    found = map(file);
    close(file);
  }
  if (found == nullptr) found = map(std::atoi(colon + 1));
  errno = kept;
  return found;
}

}  // namespace gdr::ledger
