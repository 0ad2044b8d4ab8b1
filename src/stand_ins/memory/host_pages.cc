#include "memory/host_pages.h"

#include <sys/mman.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <cstdio>
#include <cstring>
#include <memory>

#include "memory/own_memory.h"
#include "memory/pointer.h"

// Debian 12's headers know all three; older ones lack the last.
#ifndef MADV_POPULATE_READ
#define MADV_POPULATE_READ 22
#define MADV_POPULATE_WRITE 23
#endif
#ifndef MADV_COLLAPSE
#define MADV_COLLAPSE 25
#endif

namespace gdr::memory {
namespace {

struct Range {
  std::uint64_t begin, end;
};

std::string hexadecimal(std::uint64_t value) {
  char digits[16];
  return "0x" + std::string(digits, std::to_chars(digits, digits + 16, value, 16).ptr);
}

Error bad_address(std::uint64_t address, std::uint64_t length, const char* why) {
  return Error{EFAULT, "cannot register " + std::to_string(length) + " bytes at " +
                           hexadecimal(address) + ": " + why};
}

// The whole pages that the range touches; false if that leaves the address space.
bool pages_of(std::uint64_t address, std::uint64_t length, Range& pages) {
  const std::uint64_t end = address + length;
  if (end < address || end > UINT64_MAX - kPage) return false;
  pages = {address & ~(kPage - 1), (end + kPage - 1) & ~(kPage - 1)};
  return true;
}

// 0 or an errno. Long ranges take long: a signal may end the call half-way.
int advise(std::uint64_t begin, std::uint64_t length, int advice) {
  while (madvise(pointer(begin), length, advice) != 0) {
    if (errno != EINTR && errno != EAGAIN) return errno;
  }
  return 0;
}

bool is_mapped(Range pages) {
  std::array<unsigned char, 4096> residency;
  constexpr std::uint64_t kStep = residency.size() * kPage;
  for (std::uint64_t at = pages.begin; at < pages.end; at += kStep) {
    if (mincore(pointer(at), std::min(kStep, pages.end - at), residency.data()) != 0) return false;
  }
  return true;
}

// A collapse copies what is there and clears the rest of a huge page, but needs at least a page
// table: so one page of each block first, then the collapse, and only then all the small pages that
// are still missing. Populating first would fault and copy 512 pages for each huge one.
// MADV_HUGEPAGE would be as quick for untouched memory, but stays on the application's mapping for
// ever.
int collapse(Range pages, int populate) {
  const Range blocks = {(pages.begin + kHugePage - 1) & ~(kHugePage - 1),
                        pages.end & ~(kHugePage - 1)};
  if (blocks.begin >= blocks.end) return 0;
  for (std::uint64_t at = blocks.begin; at < blocks.end; at += kHugePage) {
    if (const int error = advise(at, kPage, populate); error != 0) return error;
  }
  // A refusal (an old kernel, no free huge page, memory of another kind) costs speed only.
  madvise(pointer(blocks.begin), blocks.end - blocks.begin, MADV_COLLAPSE);
  return 0;
}

// Whether every page's mapping may be written, by what the kernel lists. Cold and old kernels only.
bool maps_allow_writes(Range pages) {
  const std::unique_ptr<FILE, int (*)(FILE*)> maps(std::fopen("/proc/self/maps", "re"), &fclose);
  if (!maps) return false;
  std::uint64_t covered = pages.begin;
  char line[512];
  bool at_line_start = true;  // the path behind may be longer than the buffer
  while (covered < pages.end && std::fgets(line, sizeof line, maps.get()) != nullptr) {
    unsigned long long begin = 0, end = 0;
    char rights[5] = "";
    const bool parsed =
        at_line_start && std::sscanf(line, "%llx-%llx %4s", &begin, &end, rights) == 3;
    at_line_start = std::strchr(line, '\n') != nullptr;
    if (!parsed || end <= covered) continue;
    if (begin > covered || rights[1] != 'w') return false;
    covered = end;
  }
  return covered >= pages.end;
}

}  // namespace

bool kernel_populates() {
  static const bool answer = [] {
    void* page = mmap(nullptr, kPage, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (page == MAP_FAILED) return false;
    const bool works = madvise(page, kPage, MADV_POPULATE_WRITE) == 0;
    munmap(page, kPage);
    return works;
  }();
  return answer;
}

Result<void> fault_in(std::uint64_t address, std::uint64_t length, bool writable) {
  if (!kernel_populates()) return probe(address, length, writable);
  if (length == 0) return {};
  Range pages{};
  if (!pages_of(address, length, pages)) {
    return bad_address(address, length, "it leaves the address space");
  }
  const int populate = writable ? MADV_POPULATE_WRITE : MADV_POPULATE_READ;
  int error = length >= kHugePage ? collapse(pages, populate) : 0;
  if (error == 0) error = advise(pages.begin, pages.end - pages.begin, populate);
  if (error == 0) return {};
  // madvise(2): ENOMEM for no mapping and for no memory; EINVAL for rights that the mapping lacks
  // and for device mappings; EFAULT where a touch would have been SIGBUS.
  if (error == ENOMEM && is_mapped(pages)) {
    return Error{ENOMEM, "no memory left to make " + std::to_string(length) + " bytes present"};
  }
  if (error == ENOMEM) return bad_address(address, length, "nothing is mapped in part of it");
  if (error == EINVAL) {
    return bad_address(address, length,
                       writable ? "part of it is not ordinary writable memory"
                                : "part of it is not ordinary readable memory");
  }
  return bad_address(address, length, std::strerror(error));
}

Result<void> probe(std::uint64_t address, std::uint64_t length, bool writable) {
  if (length == 0) return {};
  Range pages{};
  if (!pages_of(address, length, pages)) {
    return bad_address(address, length, "it leaves the address space");
  }
  for (std::uint64_t at = pages.begin; at < pages.end; at += kPage) {
    if (!is_readable(at)) return bad_address(address, length, "part of it cannot be read");
  }
  if (writable && !maps_allow_writes(pages)) {
    return bad_address(address, length, "part of it cannot be written");
  }
  return {};
}

}  // namespace gdr::memory
