#include "softgpu/backing.h"

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <charconv>
#include <string>
#include <string_view>

namespace gdr::softgpu {
namespace {

constexpr std::string_view kPrefix = "gdrkit-soft-gpu:";
constexpr int kSeals = F_SEAL_SHRINK | F_SEAL_GROW | F_SEAL_SEAL;

std::uint64_t ledger_bytes(std::uint64_t granules) { return round_up(granules * 8, kHostPage); }

Error system_error(const char* what) {
  const int code = errno;
  return Error{code, std::string(what) + " failed, errno " + std::to_string(code)};
}

std::string self_path(int fd) { return "/proc/self/fd/" + std::to_string(fd); }

// "/memfd:gdrkit-soft-gpu:<device>:<granules>:": what an importer must know before it maps.
bool parse_name(int fd, int& device, std::uint64_t& granules) {
  char target[128];
  const ssize_t length = readlink(self_path(fd).c_str(), target, sizeof target);
  if (length <= 0) return false;
  std::string_view text(target, static_cast<std::size_t>(length));
  const std::string wanted = "/memfd:" + std::string(kPrefix);
  if (!text.starts_with(wanted)) return false;
  text.remove_prefix(wanted.size());
  const char* end = text.data() + text.size();
  auto first = std::from_chars(text.data(), end, device);
  if (first.ec != std::errc{} || first.ptr == end || *first.ptr != ':') return false;
  auto second = std::from_chars(first.ptr + 1, end, granules);
  return second.ec == std::errc{} && second.ptr != end && *second.ptr == ':' && device >= 0 &&
         granules >= 1 && granules <= kBlock / kGranule;
}

}  // namespace

Result<std::shared_ptr<Backing>> Backing::create(std::uint64_t bytes, int device,
                                                 std::uint64_t granules) {
  std::shared_ptr<Backing> backing(new Backing);
  backing->bytes_ = bytes;
  backing->granules_ = granules;
  backing->device_ = device;
  const std::string name =
      std::string(kPrefix) + std::to_string(device) + ":" + std::to_string(granules) + ":";
  backing->fd_.reset(memfd_create(name.c_str(), MFD_CLOEXEC | MFD_ALLOW_SEALING));
  if (!backing->fd_) return system_error("memfd_create");
  const int fd = backing->fd_.get();
  if (ftruncate(fd, static_cast<off_t>(bytes + ledger_bytes(granules))) != 0) {
    return system_error("ftruncate");
  }
  if (fcntl(fd, F_ADD_SEALS, kSeals) != 0) return system_error("F_ADD_SEALS");
  if (Result<void> mapped = backing->map(); !mapped) return mapped.error();
  return backing;
}

Result<std::shared_ptr<Backing>> Backing::open(int fd) {
  std::shared_ptr<Backing> backing(new Backing);
  if (!parse_name(fd, backing->device_, backing->granules_)) {
    return Error{EBADF, "not a descriptor of software GPU memory"};
  }
  // Opened anew: what was handed over may be an O_PATH descriptor.
  backing->fd_.reset(::open(self_path(fd).c_str(), O_RDWR | O_CLOEXEC));
  if (!backing->fd_) return system_error("open");
  // The name could be anybody's; the seals and the size are what makes mapping it safe.
  const int seals = fcntl(backing->fd_.get(), F_GET_SEALS);
  if (seals < 0 || (seals & kSeals) != kSeals) {
    return Error{EBADF, "not a descriptor of software GPU memory: seals are missing"};
  }
  struct stat status {};
  if (fstat(backing->fd_.get(), &status) != 0) return system_error("fstat");
  const std::uint64_t ledger = ledger_bytes(backing->granules_);
  const auto size = static_cast<std::uint64_t>(status.st_size);
  if (size <= ledger || (size - ledger) % kHostPage != 0) {
    return Error{EBADF, "not a descriptor of software GPU memory: wrong size"};
  }
  backing->bytes_ = size - ledger;
  if (Result<void> mapped = backing->map(); !mapped) return mapped.error();
  return backing;
}

Result<void> Backing::map() {
  struct stat status {};
  if (fstat(fd_.get(), &status) != 0) return system_error("fstat");
  inode_ = status.st_ino;
  void* at = mmap(nullptr, bytes_ + ledger_bytes(granules_), PROT_READ | PROT_WRITE, MAP_SHARED,
                  fd_.get(), 0);
  if (at == MAP_FAILED) return system_error("mmap");
  map_ = static_cast<std::byte*>(at);
  // A child of fork() has no business with device memory, as with the real driver.
  madvise(at, bytes_ + ledger_bytes(granules_), MADV_DONTFORK);
  return {};
}

Backing::~Backing() {
  if (map_ != nullptr) munmap(map_, bytes_ + ledger_bytes(granules_));
}

std::atomic<std::uint64_t>* Backing::entry(std::uint64_t offset) const {
  const std::uint64_t index = granules_ == 1 ? 0 : offset / kGranule;
  if (index >= granules_) return nullptr;
  return reinterpret_cast<std::atomic<std::uint64_t>*>(map_ + bytes_) + index;
}

void Backing::set_ledger(std::uint64_t offset, std::uint64_t identity) {
  if (auto* slot = entry(offset)) slot->store(identity, std::memory_order_release);
}

std::uint64_t Backing::ledger(std::uint64_t offset) const {
  auto* slot = entry(offset);
  return slot != nullptr ? slot->load(std::memory_order_acquire) : 0;
}

Result<UniqueFd> Backing::export_descriptor() const {
  UniqueFd fd(::open(self_path(fd_.get()).c_str(), O_PATH | O_CLOEXEC));
  if (!fd) return system_error("open");
  return fd;
}

}  // namespace gdr::softgpu
