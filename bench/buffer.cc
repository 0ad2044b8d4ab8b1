#include "buffer.h"

#include <sys/mman.h>

#include <cerrno>
#include <cstdio>
#include <cstring>
#include <memory>

#include "give_up.h"

namespace gdr::bench {
namespace {

constexpr std::size_t kHugePage = 2 << 20;

}  // namespace

Buffer::Buffer(std::size_t size, Pages pages) : mapped_(size + 2 * kHugePage), size_(size) {
  mapping_ = mmap(nullptr, mapped_, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (mapping_ == MAP_FAILED) give_up("mmap of {} bytes: {}", mapped_, std::strerror(errno));
  const auto begin = reinterpret_cast<std::uintptr_t>(mapping_);
  data_ = reinterpret_cast<std::byte*>((begin + kHugePage - 1) & ~(kHugePage - 1));
  if (pages == Pages::kOrdinary && madvise(mapping_, mapped_, MADV_NOHUGEPAGE) != 0 &&
      errno != EINVAL) {  // EINVAL: a kernel without transparent huge pages
    give_up("MADV_NOHUGEPAGE: {}", std::strerror(errno));
  }
}

Buffer::~Buffer() { munmap(mapping_, mapped_); }

std::size_t Buffer::huge_bytes() const {
  const std::unique_ptr<FILE, int (*)(FILE*)> smaps(std::fopen("/proc/self/smaps", "re"), &fclose);
  if (!smaps) return 0;
  const auto address = reinterpret_cast<std::uintptr_t>(data_);
  char line[512];
  bool inside = false;
  std::size_t total = 0;
  while (std::fgets(line, sizeof line, smaps.get()) != nullptr) {
    unsigned long begin = 0, end = 0, kilobytes = 0;
    if (std::sscanf(line, "%lx-%lx ", &begin, &end) == 2) {
      inside = begin < address + size_ && end > address;
    } else if (inside && std::sscanf(line, "AnonHugePages: %lu kB", &kilobytes) == 1) {
      total += std::size_t{kilobytes} * 1024;
    }
  }
  return total;
}

void Buffer::clear() { std::memset(data_, 0, size_); }

void Buffer::fill(std::uint64_t seed) {
  auto* words = reinterpret_cast<std::uint64_t*>(data_);
  for (std::size_t i = 0; i < size_ / sizeof *words; ++i) {
    words[i] = (i + 1) * 0x9e37'79b9'7f4a'7c15 ^ seed;
  }
}

std::uint64_t Buffer::hash(std::size_t bytes) const {
  const auto* words = reinterpret_cast<const std::uint64_t*>(data_);
  std::uint64_t hash = 0xcbf2'9ce4'8422'2325;
  for (std::size_t i = 0; i < bytes / sizeof *words; ++i) {
    hash = (hash ^ words[i]) * 0x0000'0100'0000'01b3;
  }
  return hash;
}

}  // namespace gdr::bench
