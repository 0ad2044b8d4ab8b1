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

std::byte* map_part(int descriptor, std::uint64_t offset, std::uint64_t bytes) {
  void* part = mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_NORESERVE, descriptor,
                    static_cast<off_t>(offset));
  if (part == MAP_FAILED) return nullptr;
  // A child must not write into its parent's device, nor a core dump carry a gigabyte of it.
  madvise(part, bytes, MADV_DONTFORK);
  madvise(part, bytes, MADV_DONTDUMP);
  return static_cast<std::byte*>(part);
}

// In a child of fork. Nothing when another library has mapped something into the gap since: that is
// not to be unmapped.
std::byte* zeros_at(std::byte* place, std::uint64_t bytes) {
  if (place == nullptr) return nullptr;
  void* zeros = mmap(place, bytes, PROT_READ | PROT_WRITE,
                     MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE | MAP_FIXED_NOREPLACE, -1, 0);
  if (zeros == place) return place;
  if (zeros != MAP_FAILED) munmap(zeros, bytes);
  return nullptr;
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
  std::byte* base = map_part(descriptor.get(), 0, kFirstBytes);
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
  std::byte* base = map_part(descriptor.get(), 0, kFirstBytes);
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
  if (base_ != nullptr) munmap(base_, kFirstBytes);
  for (std::size_t i = 0; i < kViews; ++i) {
    if (views_[i] != nullptr) munmap(views_[i], view_bytes(i));
  }
}

void Segment::prepare_fork() {
  registry().mutex.lock();
  for (Segment* segment : registry().segments) segment->mutex_.lock();
}

void Segment::parent_of_fork() {
  for (Segment* segment : registry().segments) segment->mutex_.unlock();
  registry().mutex.unlock();
}

void Segment::child_of_fork() {
  for (Segment* segment : registry().segments) {
    segment->base_ = zeros_at(segment->base_, kFirstBytes);
    for (std::size_t i = 0; i < kViews; ++i) {
      segment->views_[i] = zeros_at(segment->views_[i], view_bytes(i));
    }
    segment->descriptor_.reset();
    segment->mutex_.unlock();
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
  if (!is_in_arena(offset, length)) return nullptr;
  if (offset + length <= kFirstBytes) return base_ + offset;
  std::byte* const view = view_up_to(offset + length);
  return view == nullptr ? nullptr : view + (offset - kArenaAt);
}

// The smallest view that shows the arena up to there, which is beyond its near part.
std::byte* Segment::view_up_to(std::uint64_t end) {
  const auto smallest =
      static_cast<std::size_t>(std::bit_width((end - kArenaAt - 1) / kNearArena)) - 1;
  std::atomic<std::byte*>& view = views_[smallest];
  if (std::byte* present = view.load(std::memory_order_acquire)) return present;
  const std::lock_guard guard(mutex_);
  if (view.load(std::memory_order_relaxed) == nullptr) {
    view.store(map_part(descriptor_.get(), kArenaAt, view_bytes(smallest)),
               std::memory_order_release);
  }
  return view.load(std::memory_order_relaxed);
}

Result<std::uint64_t> Segment::allocate(std::uint64_t bytes) {
  const std::uint64_t size = page_up(std::max<std::uint64_t>(bytes, 1));
  if (size < bytes || size > kArenaBytes) return Error{ENOMEM, "the device's arena is too small"};
  std::optional<std::uint64_t> at;
  {
    const std::lock_guard guard(mutex_);
    at = arena_.take(size);
  }
  if (!at) return Error{ENOMEM, "the device's arena is full"};
  if (arena(*at, size) != nullptr) return *at;
  const std::lock_guard guard(mutex_);
  arena_.give_back(*at);
  return Error{ENOMEM, "the device's arena cannot be mapped further"};
}

void Segment::free(std::uint64_t offset) {
  const std::lock_guard guard(mutex_);
  const std::uint64_t length = arena_.length_at(offset);
  if (length == 0) return;
  // Gives the pages back; whoever maps them next sees zeros.
  fallocate(descriptor_.get(), FALLOC_FL_PUNCH_HOLE | FALLOC_FL_KEEP_SIZE,
            static_cast<off_t>(offset), static_cast<off_t>(length));
  arena_.give_back(offset);
}

}  // namespace gdr::rnic
