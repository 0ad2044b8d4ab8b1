// XRC domains: opening and closing.
#include "verbs/xrcd.h"

#include "verbs/context.h"
#include "verbs/errors.h"
#include "verbs/objects.h"

namespace gdr::verbs {
namespace {

ibv_xrcd* open_xrcd(ibv_context* context, ibv_xrcd_init_attr* attributes) {
  return or_null([&]() -> ibv_xrcd* {
    constexpr std::uint32_t kBoth = IBV_XRCD_INIT_ATTR_FD | IBV_XRCD_INIT_ATTR_OFLAGS;
    if ((attributes->comp_mask & ~kBoth) != 0) return fail(EOPNOTSUPP);
    if (attributes->comp_mask != kBoth) return fail(EINVAL);
    Context& opened = context_of(context);
    auto xrcd = std::make_unique<Xrcd>();
    Result<std::uint32_t> place = opened.adapter->xrc_domains().open(
        opened.device->index, attributes->fd, attributes->oflags);
    if (!place) return fail(place.error());
    xrcd->base.context = context;
    xrcd->opened = *place;
    xrcd->domain = opened.adapter->xrc_domains().at(*place);
    xrcd->serial = opened.adopt([raw = xrcd.get(), &opened] {
      opened.adapter->xrc_domains().close(raw->opened);
      delete raw;
    });
    return &xrcd.release()->base;
  });
}

int close_xrcd(ibv_xrcd* xrcd) {
  return or_errno([&] {
    Xrcd& own = xrcd_of(xrcd);
    if (own.users.load() != 0) return EBUSY;
    Context& context = context_of(xrcd->context);
    context.forget(own.serial);
    context.adapter->xrc_domains().close(own.opened);
    delete &own;
    return 0;
  });
}

}  // namespace

void set_xrcd_functions(verbs_context& table) {
  table.open_xrcd = open_xrcd;
  table.close_xrcd = close_xrcd;
}

}  // namespace gdr::verbs
