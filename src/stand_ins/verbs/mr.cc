// Memory regions. Which rights go together and which memory can be registered is decided below, in
// rnic::Adapter; here are the C structs, and which flags there are.
#include "verbs/mr.h"

#include <fcntl.h>

#include "verbs/abi.h"
#include "verbs/context.h"
#include "verbs/dm.h"
#include "verbs/dma_handle.h"
#include "verbs/errors.h"
#include "verbs/objects.h"

#undef ibv_reg_mr
#undef ibv_reg_mr_iova

namespace gdr::verbs {
namespace {

void release_uses(Mr& mr) {
  if (mr.device_memory != nullptr) --mr.device_memory->regions;
  if (mr.dma_handle != nullptr) --mr.dma_handle->regions;
  --pd_of(mr.base.pd).users;
}

// Removes everything that is still bound to the context.
void dispose(Mr* mr) {
  rnic::Adapter& adapter = *context_of(mr->base.context).adapter;
  adapter.regions().unbind_windows_of_region(mr->base.lkey);
  // Unless it is gone through another that was imported.
  if (adapter.deregister(mr->base.lkey)) release_uses(*mr);
  delete mr;
}

template <typename Register>
ibv_mr* make_region(ibv_pd* pd, void* address, std::size_t length, std::uint64_t iova,
                    unsigned access, Mr::Origin origin, Register&& register_with) {
  return or_null([&]() -> ibv_mr* {
    if (const int error = check_access(access)) return fail(error);
    Context& context = context_of(pd->context);
    auto mr = std::make_unique<Mr>();
    mr->access = access;
    mr->iova = iova;
    mr->origin = origin;
    const rnic::RegionAttributes attributes{.iova = first_byte(access, iova),
                                            .length = length,
                                            .access = access & kKept,
                                            .protection_domain = pd_of(pd).domain};
    Result<std::uint32_t> key = register_with(*context.adapter, attributes);
    if (!key) return fail(key.error());
    mr->base = {.context = pd->context,
                .pd = pd,
                .addr = address,
                .length = length,
                .handle = *key,
                .lkey = *key,
                .rkey = *key};
    ++pd_of(pd).users;
    mr->serial = context.adopt([raw = mr.get()] { dispose(raw); });
    {
      const std::lock_guard guard(context.session->mutex);
      context.session->regions[mr->base.handle] = mr.get();
    }
    return &mr.release()->base;
  });
}

ibv_mr* register_memory(ibv_pd* pd, void* address, std::size_t length, std::uint64_t iova,
                        unsigned access) {
  return make_region(pd, address, length, iova, access, Mr::Origin::kAddress,
                     [&](rnic::Adapter& adapter, const rnic::RegionAttributes& attributes) {
                       return adapter.register_memory(reinterpret_cast<std::uintptr_t>(address),
                                                      attributes);
                     });
}

ibv_mr* alloc_null_mr(ibv_pd* pd) {
  ibv_mr* mr = make_region(pd, nullptr, SIZE_MAX, 0, IBV_ACCESS_LOCAL_WRITE, Mr::Origin::kNothing,
                           [](rnic::Adapter& adapter, const rnic::RegionAttributes& attributes) {
                             return adapter.register_nothing(attributes);
                           });
  if (mr != nullptr) mr->rkey = 0;  // the manual: only the lkey is valid
  return mr;
}

ibv_mr* reg_dm_mr(ibv_pd* pd, ibv_dm* dm, std::uint64_t offset, std::size_t length,
                  unsigned access) {
  const std::shared_ptr<DeviceMemory> memory = dm_of(dm).memory;
  const bool is_whole = (access & IBV_ACCESS_ZERO_BASED) != 0 && memory->holds(offset, length) &&
                        (access & IBV_ACCESS_ON_DEMAND) == 0;
  const bool is_same_device =
      device_of(dm->context->device).index == device_of(pd->context->device).index;
  if (!is_whole || !is_same_device) return fail(EINVAL);
  ibv_mr* mr =
      make_region(pd, nullptr, length, 0, access, Mr::Origin::kDevice,
                  [&](rnic::Adapter& adapter, const rnic::RegionAttributes& attributes) {
                    if (length == 0) return adapter.register_nothing(attributes);  // grants no byte
                    return adapter.register_memory(
                        reinterpret_cast<std::uintptr_t>(memory->bytes() + offset), attributes);
                  });
  if (mr == nullptr) return nullptr;
  mr_of(mr).device_memory = memory;
  ++memory->regions;
  return mr;
}

}  // namespace

int check_access(unsigned access) {
  const unsigned known = kKept | IBV_ACCESS_HUGETLB | IBV_ACCESS_OPTIONAL_RANGE;
  return (access & ~known) != 0 ? EINVAL : 0;
}

void set_mr_functions(verbs_context& table) {
  table.alloc_null_mr = alloc_null_mr;
  table.advise_mr = advise_mr;
  table.reg_dm_mr = reg_dm_mr;
}

}  // namespace gdr::verbs

using namespace gdr::verbs;  // NOLINT: this file is the C interface of the namespace

GDR_EXPORT ibv_mr* ibv_reg_mr(ibv_pd* pd, void* address, std::size_t length, int access) {
  return register_memory(pd, address, length, reinterpret_cast<std::uintptr_t>(address),
                         static_cast<unsigned>(access));
}
GDR_EXPORT ibv_mr* ibv_reg_mr_iova(ibv_pd* pd, void* address, std::size_t length,
                                   std::uint64_t iova, int access) {
  return register_memory(pd, address, length, iova, static_cast<unsigned>(access));
}
GDR_EXPORT ibv_mr* ibv_reg_mr_iova2(ibv_pd* pd, void* address, std::size_t length,
                                    std::uint64_t iova, unsigned access) {
  return register_memory(pd, address, length, iova, access);
}

// Programs probe for dma-buf support with descriptor -1 and look for EBADF, whatever the other
// arguments are: so it is checked before them.
GDR_EXPORT ibv_mr* ibv_reg_dmabuf_mr(ibv_pd* pd, std::uint64_t offset, std::size_t length,
                                     std::uint64_t iova, int fd, int access) {
  if (fd < 0 || fcntl(fd, F_GETFD) < 0) return fail(EBADF);
  if ((access & IBV_ACCESS_ON_DEMAND) != 0) return fail(EOPNOTSUPP);
  return make_region(
      pd, reinterpret_cast<void*>(offset), length, iova, static_cast<unsigned>(access),
      Mr::Origin::kDescriptor,
      [&](gdr::rnic::Adapter& adapter, const gdr::rnic::RegionAttributes& attributes) {
        return adapter.register_dmabuf({fd, offset}, attributes);
      });
}

GDR_EXPORT int ibv_dereg_mr(ibv_mr* mr) {
  return or_errno([&] {
    Mr& region = mr_of(mr);
    Context& context = context_of(mr->context);
    const gdr::Result<void> done = context.adapter->deregister(mr->lkey);
    if (!done) return done.error().code;
    context.forget(region.serial);
    release_uses(region);
    {
      const std::lock_guard guard(context.session->mutex);
      context.session->regions.erase(mr->handle);
    }
    delete &region;
    return 0;
  });
}
