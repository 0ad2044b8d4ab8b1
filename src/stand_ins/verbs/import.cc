// Importing: a second context, protection domain, region or device memory for what this process has
// already, by command descriptor and handle. Descriptors of other processes name nothing here:
// objects live in the process that made them.
//
// Destroying through one of several destroys the object itself; the others are then only to be
// unimported, as the manuals say.
#include <fcntl.h>

#include "verbs/abi.h"
#include "verbs/context.h"
#include "verbs/dm.h"
#include "verbs/errors.h"
#include "verbs/objects.h"

namespace gdr::verbs {
namespace {

ibv_context* import_device(int descriptor) {
  if (fcntl(descriptor, F_GETFD) < 0) return fail(EBADF);
  const std::shared_ptr<Session> session = Session::find(descriptor);
  if (session == nullptr) return fail(EOPNOTSUPP);
  Device* device = session->device();
  if (device == nullptr) return fail(ENODEV);
  return open_context(*device, session, UniqueFd(descriptor));
}

ibv_pd* import_pd(ibv_context* context, std::uint32_t handle) {
  Context& opened = context_of(context);
  auto pd = std::make_unique<Pd>();
  {
    const std::lock_guard guard(opened.session->mutex);
    const auto found = opened.session->domains.find(handle);
    if (found == opened.session->domains.end()) return fail(EINVAL);
    pd->domain = found->second->domain;
    pd->users = found->second->users;
  }
  pd->base = {.context = context, .handle = handle};
  pd->serial = opened.adopt([raw = pd.get()] { delete raw; });
  return &pd.release()->base;
}

ibv_mr* import_mr(ibv_pd* pd, std::uint32_t handle) {
  Context& opened = context_of(pd->context);
  auto mr = std::make_unique<Mr>();
  {
    const std::lock_guard guard(opened.session->mutex);
    const auto found = opened.session->regions.find(handle);
    if (found == opened.session->regions.end()) return fail(EINVAL);
    if (pd_of(found->second->base.pd).domain != pd_of(pd).domain) return fail(EINVAL);
    *mr = *found->second;
  }
  mr->base.context = pd->context;
  mr->base.pd = pd;
  mr->base.addr = nullptr;  // the manual: not applicable
  mr->serial = opened.adopt([raw = mr.get()] { delete raw; });
  return &mr.release()->base;
}

ibv_dm* import_dm(ibv_context* context, std::uint32_t handle) {
  Context& opened = context_of(context);
  auto dm = std::make_unique<Dm>();
  {
    const std::lock_guard guard(opened.session->mutex);
    const auto found = opened.session->device_memories.find(handle);
    if (found == opened.session->device_memories.end()) return fail(EINVAL);
    *dm = *found->second;
  }
  dm->base.context = context;
  dm->serial = opened.adopt([raw = dm.get()] { delete raw; });
  return &dm.release()->base;
}

}  // namespace
}  // namespace gdr::verbs

using namespace gdr::verbs;  // NOLINT: this file is the C interface of the namespace

GDR_EXPORT ibv_context* ibv_import_device(int descriptor) {
  return or_null([&] { return import_device(descriptor); });
}

GDR_EXPORT ibv_pd* ibv_import_pd(ibv_context* context, std::uint32_t handle) {
  return or_null([&] { return import_pd(context, handle); });
}
// Programs destroy what they made in it afterwards, too: then it stays until its session ends.
GDR_EXPORT void ibv_unimport_pd(ibv_pd* pd) {
  if (pd_of(pd).users.load() != 0) return;
  context_of(pd->context).forget(pd_of(pd).serial);
  delete &pd_of(pd);
}

GDR_EXPORT ibv_mr* ibv_import_mr(ibv_pd* pd, std::uint32_t handle) {
  return or_null([&] { return import_mr(pd, handle); });
}
GDR_EXPORT void ibv_unimport_mr(ibv_mr* mr) {
  context_of(mr->context).forget(mr_of(mr).serial);
  delete &mr_of(mr);
}

GDR_EXPORT ibv_dm* ibv_import_dm(ibv_context* context, std::uint32_t handle) {
  return or_null([&] { return import_dm(context, handle); });
}
GDR_EXPORT void ibv_unimport_dm(ibv_dm* dm) {
  context_of(dm->context).forget(dm_of(dm).serial);
  delete &dm_of(dm);
}
