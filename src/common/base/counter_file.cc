#include "base/counter_file.h"

#include <fcntl.h>
#include <sys/file.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cstring>

#include "base/own_file.h"
#include "base/unique_fd.h"

namespace gdr {
namespace {

constexpr std::size_t kNameBytes = 56;
constexpr char kMagic[16] = "gdrkit counters";
constexpr std::size_t kMost = 1024;

// Then the values, side by side, so that they are one array; then their names.
struct Header {
  char magic[sizeof kMagic];
  std::uint64_t count;
};

constexpr std::size_t file_bytes(std::size_t count) {
  return sizeof(Header) + count * (sizeof(std::uint64_t) + kNameBytes);
}
std::size_t names_at(std::size_t count) { return sizeof(Header) + count * sizeof(std::uint64_t); }

bool is_of(const std::vector<char>& bytes, std::span<const char* const> names) {
  if (bytes.size() != file_bytes(names.size())) return false;
  Header header;
  std::memcpy(&header, bytes.data(), sizeof header);
  if (std::memcmp(header.magic, kMagic, sizeof kMagic) != 0 || header.count != names.size()) {
    return false;
  }
  for (std::size_t i = 0; i < names.size(); ++i) {
    const char* stored = bytes.data() + names_at(names.size()) + i * kNameBytes;
    if (std::strncmp(stored, names[i], kNameBytes) != 0) return false;
  }
  return true;
}

std::vector<char> read_all(int descriptor) {
  struct stat status {};
  if (fstat(descriptor, &status) != 0 || !S_ISREG(status.st_mode) ||
      static_cast<std::size_t>(status.st_size) > file_bytes(kMost)) {
    return {};
  }
  std::vector<char> bytes(static_cast<std::size_t>(status.st_size));
  const ssize_t got = pread(descriptor, bytes.data(), bytes.size(), 0);
  bytes.resize(got < 0 ? 0 : static_cast<std::size_t>(got));
  return bytes;
}

bool write_new(int descriptor, std::span<const char* const> names) {
  std::vector<char> bytes(file_bytes(names.size()));
  Header header{};
  std::memcpy(header.magic, kMagic, sizeof kMagic);
  header.count = names.size();
  std::memcpy(bytes.data(), &header, sizeof header);
  for (std::size_t i = 0; i < names.size(); ++i) {
    std::memcpy(bytes.data() + names_at(names.size()) + i * kNameBytes, names[i],
                std::min(std::strlen(names[i]), kNameBytes - 1));
  }
  return write_first_bytes(descriptor, std::as_bytes(std::span(bytes)));
}

// A new file gets its names; one that is there keeps what it holds, whatever that is.
Result<void> make_ready(int descriptor, const std::string& path,
                        std::span<const char* const> names) {
  struct stat status {};
  if (fstat(descriptor, &status) != 0) return from_errno(path);
  if (S_ISREG(status.st_mode) && status.st_size == 0) {
    if (!write_new(descriptor, names)) return from_errno(path);
    return {};
  }
  if (!S_ISREG(status.st_mode) || !is_of(read_all(descriptor), names)) {
    return Error{
        EINVAL,
        path +
            ": the file exists but holds no counters of this version; remove it or name another"};
  }
  return {};
}

}  // namespace

Result<std::atomic<std::uint64_t>*> map_counters(const std::string& path,
                                                 std::span<const char* const> names) {
  const Result<UniqueFd> file = open_own_file(path, O_RDWR);
  if (!file) return file.error();
  const Result<void> ready = make_ready(file->get(), path, names);
  // The mapping keeps the file open, and with it the lock.
  flock(file->get(), LOCK_UN);
  if (!ready) return ready.error();
  void* base =
      mmap(nullptr, file_bytes(names.size()), PROT_READ | PROT_WRITE, MAP_SHARED, file->get(), 0);
  if (base == MAP_FAILED) return from_errno(path);
  return reinterpret_cast<std::atomic<std::uint64_t>*>(static_cast<char*>(base) + sizeof(Header));
}

Result<std::vector<NamedCount>> read_counters(const std::string& path) {
  const UniqueFd file(open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK));
  if (!file) return from_errno(path);
  const std::vector<char> bytes = read_all(file.get());
  Header header{};
  if (bytes.size() >= sizeof header) std::memcpy(&header, bytes.data(), sizeof header);
  if (std::memcmp(header.magic, kMagic, sizeof kMagic) != 0 || header.count > kMost ||
      bytes.size() != file_bytes(header.count)) {
    return Error{EINVAL, path + ": not a file of counters; GDR_SOFT_COUNTERS makes one"};
  }
  std::vector<NamedCount> counts(header.count);
  for (std::size_t i = 0; i < header.count; ++i) {
    const char* name = bytes.data() + names_at(header.count) + i * kNameBytes;
    counts[i].name.assign(name, strnlen(name, kNameBytes));
    std::memcpy(&counts[i].value, bytes.data() + sizeof header + i * sizeof counts[i].value,
                sizeof counts[i].value);
  }
  return counts;
}

}  // namespace gdr
