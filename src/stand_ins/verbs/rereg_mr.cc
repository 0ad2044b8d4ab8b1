// ibv_rereg_mr: other memory, another protection domain or other rights under the same ibv_mr.
//
// A change of rights or domain keeps the keys; with other memory the region gets new ones, so that
// no key given away before reaches it. Every failure is found before the region is touched, so the
// one error code is IBV_REREG_MR_ERR_INPUT, "old MR is valid", with the reason in errno.
#include "verbs/abi.h"
#include "verbs/errors.h"
#include "verbs/mr.h"
#include "verbs/objects.h"

namespace gdr::verbs {
namespace {

struct Change {
  int flags;
  ibv_pd* pd;  // not to be looked at without its flag: programs pass anything
  void* address;
  std::size_t length;
  unsigned access;

  bool moves() const { return (flags & IBV_REREG_MR_CHANGE_TRANSLATION) != 0; }
  bool changes_domain() const { return (flags & IBV_REREG_MR_CHANGE_PD) != 0; }
  bool changes_access() const { return (flags & IBV_REREG_MR_CHANGE_ACCESS) != 0; }
};

int check(const Mr& mr, const Change& change) {
  if (mr.origin == Mr::Origin::kNothing || mr.origin == Mr::Origin::kDevice) return EINVAL;
  if (change.flags == 0 || (change.flags & ~IBV_REREG_MR_FLAGS_SUPPORTED) != 0) return EINVAL;
  if (change.moves() && (change.address == nullptr || change.length == 0)) return EINVAL;
  if (!change.changes_access() && change.access != 0) return EINVAL;
  if (change.changes_domain() && (change.pd == nullptr || change.pd->context != mr.base.context)) {
    return EINVAL;
  }
  return change.changes_access() ? check_access(change.access) : 0;
}

int rereg(Mr& mr, const Change& change) {
  if (const int error = check(mr, change)) return error;
  const unsigned access = change.changes_access() ? change.access : mr.access;
  ibv_pd* pd = change.changes_domain() ? change.pd : mr.base.pd;
  void* address = change.moves() ? change.address : mr.base.addr;
  const std::uint64_t iova = change.moves() ? reinterpret_cast<std::uintptr_t>(address) : mr.iova;
  rnic::Reregistration wanted{
      .attributes = {.iova = first_byte(access, iova),
                     .length = change.moves() ? change.length : mr.base.length,
                     .access = access & kKept,
                     .protection_domain = pd_of(pd).domain},
      .address = std::nullopt,
      .under_new_key = change.moves()};
  // Pages that were only made readable, or not at all, have to be made writable.
  const bool pins_again = (access & ~mr.access & IBV_ACCESS_LOCAL_WRITE) != 0 ||
                          ((access ^ mr.access) & IBV_ACCESS_ON_DEMAND) != 0;
  if (pins_again && !change.moves() && mr.origin != Mr::Origin::kAddress) return EOPNOTSUPP;
  if (pins_again || change.moves()) wanted.address = reinterpret_cast<std::uintptr_t>(address);

  const Result<std::uint32_t> key =
      context_of(mr.base.context).adapter->reregister(mr.base.lkey, wanted);
  if (!key) return key.error().code;
  --pd_of(mr.base.pd).users;
  ++pd_of(pd).users;
  mr.base.pd = pd;
  mr.base.addr = address;
  mr.base.length = wanted.attributes.length;
  mr.base.lkey = mr.base.rkey = *key;
  mr.access = access;
  mr.iova = iova;
  if (change.moves()) mr.origin = Mr::Origin::kAddress;
  return 0;
}

}  // namespace
}  // namespace gdr::verbs

using namespace gdr::verbs;  // NOLINT: this file is the C interface of the namespace

GDR_EXPORT int ibv_rereg_mr(ibv_mr* mr, int flags, ibv_pd* pd, void* address, std::size_t length,
                            int access) {
  const int error = or_errno([&] {
    return rereg(mr_of(mr), {flags, pd, address, length, static_cast<unsigned>(access)});
  });
  if (error == 0) return 0;
  errno = error;
  return IBV_REREG_MR_ERR_INPUT;
}
