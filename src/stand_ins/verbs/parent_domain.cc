#include "verbs/parent_domain.h"

#include <new>

#include "verbs/errors.h"

namespace gdr::verbs {

// A promise of the program's that its objects on it are used by one thread at a time. They keep
// their locks, which are not contended then, and are safe whether it holds or not.
struct Td {
  ibv_td base{};
  std::atomic<int> users{0};  // parent domains
  std::uint64_t serial = 0;
};

namespace {

// rdma_driver_id in the upper half, which knows no software NIC of this name; a queue pair's
// buffer in the lower.
constexpr std::uint64_t kSendRing = 1;
constexpr std::size_t kAlignment = 64;

Td& td_of(ibv_td* td) { return *reinterpret_cast<Td*>(td); }

ibv_td* alloc_td(ibv_context* context, ibv_td_init_attr* attributes) {
  return or_null([&]() -> ibv_td* {
    if (attributes->comp_mask != 0) return fail(EINVAL);
    auto td = std::make_unique<Td>();
    td->base.context = context;
    td->serial = context_of(context).adopt([raw = td.get()] { delete raw; });
    return &td.release()->base;
  });
}

int dealloc_td(ibv_td* td) {
  return or_errno([&] {
    Td& own = td_of(td);
    if (own.users.load() != 0) return EBUSY;
    context_of(td->context).forget(own.serial);
    delete &own;
    return 0;
  });
}

bool is_complete(const ibv_parent_domain_init_attr& attributes) {
  // From rdma-core 65: in a confidential guest, memory may be shared with the host. The device is
  // in the guest, so all memory will do.
  constexpr std::uint32_t kMayBeUnprotected = 1 << 2;
  constexpr std::uint32_t kKnown = IBV_PARENT_DOMAIN_INIT_ATTR_ALLOCATORS |
                                   IBV_PARENT_DOMAIN_INIT_ATTR_PD_CONTEXT | kMayBeUnprotected;
  if (attributes.pd == nullptr || (attributes.comp_mask & ~kKnown) != 0) return false;
  // No domain of a domain: its own allocators would be silently left out.
  if (pd_of(attributes.pd).protection != nullptr) return false;
  return (attributes.comp_mask & IBV_PARENT_DOMAIN_INIT_ATTR_ALLOCATORS) == 0 ||
         (attributes.alloc != nullptr && attributes.free != nullptr);
}

ibv_pd* alloc_parent_domain(ibv_context* context, ibv_parent_domain_init_attr* attributes) {
  return or_null([&]() -> ibv_pd* {
    if (!is_complete(*attributes) || attributes->pd->context != context) return fail(EINVAL);
    auto pd = std::make_unique<Pd>();
    pd->protection = &pd_of(attributes->pd);
    pd->thread = attributes->td == nullptr ? nullptr : &td_of(attributes->td);
    pd->domain = pd->protection->domain;
    if ((attributes->comp_mask & IBV_PARENT_DOMAIN_INIT_ATTR_ALLOCATORS) != 0) {
      pd->allocate = attributes->alloc;
      pd->free = attributes->free;
    }
    if ((attributes->comp_mask & IBV_PARENT_DOMAIN_INIT_ATTR_PD_CONTEXT) != 0) {
      pd->allocator_context = attributes->pd_context;
    }
    pd->base.context = context;
    pd->base.handle = attributes->pd->handle;
    pd->serial = context_of(context).adopt([raw = pd.get()] { release_pd(raw); });
    ++pd->protection->users;
    if (pd->thread != nullptr) ++pd->thread->users;
    return &pd.release()->base;
  });
}

}  // namespace

void release_pd(Pd* pd) {
  if (pd->protection != nullptr) --pd->protection->users;
  if (pd->thread != nullptr) --pd->thread->users;
  delete pd;
}

rnic::RingAllocator ring_allocator(Pd& pd) {
  if (pd.allocate == nullptr) return {};
  return [&pd](std::size_t bytes) -> std::shared_ptr<std::byte[]> {
    void* memory = pd.allocate(&pd.base, pd.allocator_context, bytes, kAlignment, kSendRing);
    if (memory == IBV_ALLOCATOR_USE_DEFAULT) {
      return std::shared_ptr<std::byte[]>(new (std::nothrow) std::byte[bytes]);
    }
    if (memory == nullptr) return nullptr;
    return {static_cast<std::byte*>(memory),
            [&pd](std::byte* ring) { pd.free(&pd.base, pd.allocator_context, ring, kSendRing); }};
  };
}

void set_parent_domain_functions(verbs_context& table) {
  table.alloc_td = alloc_td;
  table.dealloc_td = dealloc_td;
  table.alloc_parent_domain = alloc_parent_domain;
}

}  // namespace gdr::verbs
