#include "rnic/segment.h"

#include <fcntl.h>
#include <linux/magic.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/vfs.h>
#include <unistd.h>

#include <algorithm>
#include <cstring>
#include <set>

#include "base/random.h"

namespace gdr::rnic {
namespace {

// Every segment of this process. Never destroyed: threads use it until the process ends.
struct Registry {
  std::mutex mutex;
  std::set<Segment*> segments;
};
Registry& registry() {
  static Registry* const present = new Registry;
  return *present;
}

constexpr std::string_view kName = "gdrkit-rnic-";
constexpr char kDigits[] = "0123456789abcdef";

std::string name_with(const Secret& secret) {
  std::string name(kName);
  for (const std::uint8_t byte : secret) {
    name += kDigits[byte >> 4];
    name += kDigits[byte & 15];
  }
  return name;
}

Secret new_secret() {
  Secret secret;
  for (std::size_t i = 0; i < secret.size(); i += 8) {
    const std::uint64_t part = random_u64();
    std::memcpy(secret.data() + i, &part, 8);
  }
  return secret;
}

constexpr int kSeals = F_SEAL_SHRINK | F_SEAL_GROW | F_SEAL_SEAL;

std::byte* map_all(int descriptor) {
  void* base = mmap(nullptr, kSegmentBytes, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_NORESERVE,
                    descriptor, 0);
  if (base == MAP_FAILED) return nullptr;
  // A child must not write into its parent's device, nor a core dump carry a gigabyte of it.
  madvise(base, kSegmentBytes, MADV_DONTFORK);
  madvise(base, kSegmentBytes, MADV_DONTDUMP);
  return static_cast<std::byte*>(base);
}

void describe(std::span<const DeviceConfiguration> devices, SegmentHeader& header) {
  header.device_count = static_cast<std::uint32_t>(std::min<std::size_t>(devices.size(), kDevices));
  for (std::uint32_t i = 0; i < header.device_count; ++i) {
    SharedDevice& device = header.devices[i];
    std::memcpy(device.name, devices[i].name.data(),
                std::min(devices[i].name.size(), sizeof device.name - 1));
    std::copy(devices[i].mac.begin(), devices[i].mac.end(), device.mac);
    for (const PortAddress& address : devices[i].addresses) {
      if (device.address_count == kAddresses) break;
      if (address.is_carried) device.carried |= 1u << device.address_count;
      std::copy(address.gid.begin(), address.gid.end(), device.addresses[device.address_count++]);
    }
  }
}

}  // namespace

Result<std::unique_ptr<Segment>> Segment::create(Token token,
                                                 std::span<const DeviceConfiguration> devices) {
  const Secret secret = new_secret();
  UniqueFd descriptor(memfd_create(name_with(secret).c_str(), MFD_CLOEXEC | MFD_ALLOW_SEALING));
  if (!descriptor) return from_errno("memfd_create");
  if (ftruncate(descriptor.get(), static_cast<off_t>(kSegmentBytes)) != 0) {
    return from_errno("ftruncate of the device's shared segment");
  }
  if (fcntl(descriptor.get(), F_ADD_SEALS, kSeals) != 0) return from_errno("sealing the segment");
  std::byte* base = map_all(descriptor.get());
  if (base == nullptr) return from_errno("mapping the device's shared segment");

  auto* header = reinterpret_cast<SegmentHeader*>(base);
  header->layout = kSegmentLayout;
  header->token = token;
  header->mapped_at = reinterpret_cast<std::uint64_t>(base);
  header->identity = random_u64();
  describe(devices, *header);
  header->magic = kSegmentMagic;
  std::unique_ptr<Segment> segment(new Segment(std::move(descriptor), base));
  segment->secret_ = secret;
  return segment;
}

std::optional<Secret> secret_in(std::string_view link) {
  constexpr std::string_view kLink = "/memfd:";
  Secret secret;
  if (!link.starts_with(kLink) || !link.substr(kLink.size()).starts_with(kName)) return {};
  const std::string_view digits = link.substr(kLink.size() + kName.size());
  if (digits.size() < 2 * secret.size()) return {};
  for (std::size_t i = 0; i < secret.size(); ++i) {
    const char* high = std::strchr(kDigits, digits[2 * i]);
    const char* low = std::strchr(kDigits, digits[2 * i + 1]);
    if (high == nullptr || low == nullptr || *high == 0 || *low == 0) return {};
    secret[i] = static_cast<std::uint8_t>((high - kDigits) << 4 | (low - kDigits));
  }
  return secret;
}

Result<std::unique_ptr<Segment>> Segment::map(UniqueFd descriptor) {
  struct stat status {};
  if (fstat(descriptor.get(), &status) != 0) return from_errno("a peer's segment");
  // A page of another file system (of huge pages) may be missing when it is touched, which is
  // fatal.
  struct statfs system {};
  if (fstatfs(descriptor.get(), &system) != 0 || system.f_type != TMPFS_MAGIC) {
    return Error{EPROTO, "a peer's segment is not plain memory"};
  }
  const int seals = fcntl(descriptor.get(), F_GET_SEALS);
  if (static_cast<std::uint64_t>(status.st_size) != kSegmentBytes || seals < 0 ||
      (seals & kSeals) != kSeals) {
    return Error{EPROTO, "a peer's segment has another size or is not sealed"};
  }
  std::byte* base = map_all(descriptor.get());
  if (base == nullptr) return from_errno("mapping a peer's segment");
  std::unique_ptr<Segment> segment(new Segment(std::move(descriptor), base));
  if (segment->header().magic != kSegmentMagic || segment->header().layout != kSegmentLayout) {
    return Error{EPROTO, "a peer's segment is of another gdrkit version"};
  }
  return segment;
}

Segment::Segment(UniqueFd descriptor, std::byte* base)
    : descriptor_(std::move(descriptor)), base_(base) {
  const std::lock_guard guard(registry().mutex);
  registry().segments.insert(this);
}

Segment::~Segment() {
  const std::lock_guard guard(registry().mutex);
  registry().segments.erase(this);
  if (base_ != nullptr) munmap(base_, kSegmentBytes);
}

void Segment::prepare_fork() {
  registry().mutex.lock();
  for (Segment* segment : registry().segments) segment->allocation_mutex_.lock();
}

void Segment::parent_of_fork() {
  for (Segment* segment : registry().segments) segment->allocation_mutex_.unlock();
  registry().mutex.unlock();
}

void Segment::child_of_fork() {
  for (Segment* segment : registry().segments) {
    // Not over what another library may have mapped into the gap since the fork.
    void* zeros = mmap(segment->base_, kSegmentBytes, PROT_READ | PROT_WRITE,
                       MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE | MAP_FIXED_NOREPLACE, -1, 0);
    if (zeros != segment->base_) {
      if (zeros != MAP_FAILED) munmap(zeros, kSegmentBytes);
      segment->base_ = nullptr;  // nothing of it may be unmapped: it is somebody else's
    }
    segment->descriptor_.reset();
    segment->allocation_mutex_.unlock();
  }
  registry().mutex.unlock();
}

SharedFlow& Segment::flow(std::uint32_t index) {
  return reinterpret_cast<SharedFlow*>(base_ + kFlowsAt)[index & (kFlows - 1)];
}
SharedMember& Segment::member(std::uint32_t index) {
  return reinterpret_cast<SharedMember*>(base_ + kMembersAt)[index & (kMembers - 1)];
}
SharedListener& Segment::listener(std::uint32_t index) {
  return reinterpret_cast<SharedListener*>(base_ + kListenersAt)[index & (kListeners - 1)];
}
SharedSrq& Segment::srq(std::uint32_t index) {
  return reinterpret_cast<SharedSrq*>(base_ + kSrqsAt)[index & (kSrqs - 1)];
}
ServiceRequest& Segment::service_request(std::uint32_t index) {
  return reinterpret_cast<ServiceRequest*>(base_ +
                                           kServiceRequestsAt)[index & (kServiceRequests - 1)];
}

void* Segment::arena(std::uint64_t offset, std::uint64_t length) {
  if (offset < kArenaAt || offset > kSegmentBytes || length > kSegmentBytes - offset ||
      offset % 64 != 0) {
    return nullptr;
  }
  return base_ + offset;
}

Result<std::uint64_t> Segment::allocate(std::uint64_t bytes) {
  const std::uint64_t size = page_up(std::max<std::uint64_t>(bytes, 1));
  if (size < bytes || size > kArenaBytes) return Error{ENOMEM, "the device's arena is too small"};
  const std::lock_guard guard(allocation_mutex_);
  const std::optional<std::uint64_t> at = arena_.take(size);
  if (!at) return Error{ENOMEM, "the device's arena is full"};
  return *at;
}

void Segment::free(std::uint64_t offset) {
  const std::lock_guard guard(allocation_mutex_);
  const std::uint64_t length = arena_.length_at(offset);
  if (length == 0 || base_ == nullptr) return;
  // Gives the pages back; whoever maps them next sees zeros.
  madvise(base_ + offset, length, MADV_REMOVE);
  arena_.give_back(offset);
}

}  // namespace gdr::rnic
