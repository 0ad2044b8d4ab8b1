#include "verbs/dm.h"

#include <sys/mman.h>

#include <cstring>

#include "verbs/context.h"
#include "verbs/errors.h"
#include "verbs/objects.h"

namespace gdr::verbs {
namespace {

constexpr std::size_t kPage = 4096;
constexpr std::uint32_t kLogPage = 12;
constexpr std::uint64_t kWord = 4;  // the device is read and written in whole words, as ConnectX's

std::atomic<std::uint64_t> taken{0};

std::size_t in_pages(std::size_t length) { return (length + kPage - 1) & ~(kPage - 1); }

// 0 or errno.
int check(const Dm& dm, std::uint64_t offset, std::size_t length) {
  if (!dm.memory->holds(offset, length)) return EFAULT;
  return offset % kWord != 0 || length % kWord != 0 ? EINVAL : 0;
}

int copy_to(ibv_dm* dm, std::uint64_t offset, const void* from, std::size_t length) {
  if (const int error = check(dm_of(dm), offset, length)) return error;
  std::memcpy(dm_of(dm).memory->bytes() + offset, from, length);
  return 0;
}

int copy_from(void* to, ibv_dm* dm, std::uint64_t offset, std::size_t length) {
  if (const int error = check(dm_of(dm), offset, length)) return error;
  std::memcpy(to, dm_of(dm).memory->bytes() + offset, length);
  return 0;
}

ibv_dm* alloc_dm(ibv_context* context, ibv_alloc_dm_attr* attributes) {
  return or_null([&]() -> ibv_dm* {
    if (attributes->comp_mask != 0) return fail(EOPNOTSUPP);
    if (attributes->length == 0 || attributes->log_align_req > kLogPage) return fail(EINVAL);
    Context& opened = context_of(context);
    auto dm = std::make_unique<Dm>();
    dm->memory = DeviceMemory::allocate(attributes->length);
    if (dm->memory == nullptr) return nullptr;
    dm->base.context = context;
    dm->base.memcpy_to_dm = copy_to;
    dm->base.memcpy_from_dm = copy_from;
    dm->base.comp_mask = IBV_DM_MASK_HANDLE;
    dm->serial = opened.adopt([raw = dm.get()] { delete raw; });
    dm->base.handle = static_cast<std::uint32_t>(dm->serial);
    {
      const std::lock_guard guard(opened.session->mutex);
      opened.session->device_memories[dm->base.handle] = dm.get();
    }
    return &dm.release()->base;
  });
}

int free_dm(ibv_dm* dm) {
  return or_errno([&] {
    if (dm_of(dm).memory->regions.load() != 0) return EBUSY;
    Context& context = context_of(dm->context);
    context.forget(dm_of(dm).serial);
    {
      const std::lock_guard guard(context.session->mutex);
      context.session->device_memories.erase(dm->handle);
    }
    delete &dm_of(dm);
    return 0;
  });
}

}  // namespace

std::shared_ptr<DeviceMemory> DeviceMemory::allocate(std::size_t length) {
  if (length > kDeviceMemory) return fail(ENOMEM);
  const std::size_t bytes = in_pages(length);
  if (taken.fetch_add(bytes) + bytes > kDeviceMemory) {
    taken.fetch_sub(bytes);
    return fail(ENOMEM);
  }
  void* at = mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (at == MAP_FAILED) {
    taken.fetch_sub(bytes);
    return fail(ENOMEM);
  }
  return std::shared_ptr<DeviceMemory>(new DeviceMemory(static_cast<std::byte*>(at), length));
}

DeviceMemory::~DeviceMemory() {
  munmap(bytes_, in_pages(length_));
  taken.fetch_sub(in_pages(length_));
}

void set_dm_functions(verbs_context& table) {
  table.alloc_dm = alloc_dm;
  table.free_dm = free_dm;
}

}  // namespace gdr::verbs
