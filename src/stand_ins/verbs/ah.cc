// Address handles: where a UD datagram goes.
#include <algorithm>

#include "rnic/address_handle.h"
#include "rnic/gids.h"
#include "verbs/abi.h"
#include "verbs/address.h"
#include "verbs/errors.h"
#include "verbs/objects.h"

namespace gdr::verbs {
namespace {

// rnic::AddressHandle is what queue pairs read; its owner's part follows.
struct Ah {
  rnic::AddressHandle handle{};
  std::uint64_t serial = 0;
};
Ah& ah_of(ibv_ah* ah) { return *reinterpret_cast<Ah*>(ah); }

void dispose(Ah* ah) {
  --pd_of(ah->handle.base.pd).users;
  delete ah;
}

}  // namespace

ibv_ah* create_address_handle(ibv_pd* pd, const ibv_ah_attr& attributes) {
  return or_null([&]() -> ibv_ah* {
    Context& context = context_of(pd->context);
    const rnic::DeviceConfiguration& device = context.device->configuration;
    if (!names_a_path(*context.device, attributes)) return fail(EINVAL);
    auto ah = std::make_unique<Ah>();
    rnic::AddressVector& vector = ah->handle.vector;
    vector.has_gid = attributes.is_global != 0;
    if (vector.has_gid) {
      vector.source_address = rnic::address_of_gid(attributes.grh.sgid_index);
      vector.source_gid = device.addresses[vector.source_address].gid;
      std::copy(std::begin(attributes.grh.dgid.raw), std::end(attributes.grh.dgid.raw),
                vector.destination_gid.begin());
      vector.hop_limit = attributes.grh.hop_limit;
      vector.traffic_class = attributes.grh.traffic_class;
    }
    vector.service_level = attributes.sl;
    ah->handle.base.context = pd->context;
    ah->handle.base.pd = pd;
    ++pd_of(pd).users;
    ah->serial = context.adopt([raw = ah.get()] { dispose(raw); });
    ah->handle.base.handle = static_cast<std::uint32_t>(ah->serial);
    return &ah.release()->handle.base;
  });
}

}  // namespace gdr::verbs

using namespace gdr::verbs;  // NOLINT: this file is the C interface of the namespace

GDR_EXPORT ibv_ah* ibv_create_ah(ibv_pd* pd, ibv_ah_attr* attributes) {
  return create_address_handle(pd, *attributes);
}

GDR_EXPORT int ibv_destroy_ah(ibv_ah* ah) {
  return or_errno([&] {
    context_of(ah->context).forget(ah_of(ah).serial);
    dispose(&ah_of(ah));
    return 0;
  });
}
