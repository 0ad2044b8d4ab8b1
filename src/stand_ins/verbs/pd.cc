#include "verbs/abi.h"
#include "verbs/errors.h"
#include "verbs/objects.h"
#include "verbs/parent_domain.h"

using namespace gdr::verbs;  // NOLINT: this file is the C interface of the namespace

GDR_EXPORT ibv_pd* ibv_alloc_pd(ibv_context* context) {
  return or_null([&]() -> ibv_pd* {
    Context& opened = context_of(context);
    auto pd = std::make_unique<Pd>();
    pd->domain = opened.adapter->allocate_protection_domain();
    pd->serial = opened.adopt([raw = pd.get()] { delete raw; });
    pd->base.context = context;
    pd->base.handle = pd->domain;
    {
      const std::lock_guard guard(opened.session->mutex);
      opened.session->domains[pd->base.handle] = pd.get();
    }
    return &pd.release()->base;
  });
}

GDR_EXPORT int ibv_dealloc_pd(ibv_pd* pd) {
  return or_errno([&] {
    Pd& domain = pd_of(pd);
    if (domain.users.load() != 0) return EBUSY;
    Context& context = context_of(pd->context);
    context.forget(domain.serial);
    if (domain.protection == nullptr) {
      const std::lock_guard guard(context.session->mutex);
      context.session->domains.erase(pd->handle);
    }
    release_pd(&domain);
    return 0;
  });
}
