// ibv_advise_mr: makes pages of on-demand regions present before they are used.
//
// There are no translations to prefetch: the kernel looks pages up whenever it copies. So what is
// present in this process is present to the device (IBV_ADVISE_MR_ADVICE_PREFETCH_NO_FAULT), and
// the rest is to fault pages in, now in any case: the manual allows a later time, not a promise.
#include "memory/host_pages.h"
#include "verbs/errors.h"
#include "verbs/mr.h"
#include "verbs/objects.h"

namespace gdr::verbs {
namespace {

// The manual's errors.
int check(rnic::RegionTable& regions, const Pd& pd, std::uint32_t advice, const ibv_sge& range,
          std::uint64_t* address) {
  const auto region = regions.describe(range.lkey);
  if (!region) return EFAULT;
  if (region->attributes.protection_domain != pd.domain) return EPERM;
  if (region->reach != rnic::Reach::kOnDemand) return EINVAL;
  if (advice == IBV_ADVISE_MR_ADVICE_PREFETCH_WRITE &&
      (region->attributes.access & IBV_ACCESS_LOCAL_WRITE) == 0) {
    return EPERM;
  }
  const std::uint64_t offset = range.addr - region->attributes.iova;
  const std::uint64_t length = region->attributes.length;
  if (range.addr < region->attributes.iova || offset > length || range.length > length - offset) {
    return EFAULT;
  }
  *address = region->address + offset;
  return 0;
}

int advise(ibv_pd* pd, std::uint32_t advice, std::uint32_t flags, const ibv_sge* ranges,
           std::uint32_t count) {
  if (advice > IBV_ADVISE_MR_ADVICE_PREFETCH_NO_FAULT) return EOPNOTSUPP;
  if ((flags & ~std::uint32_t{IBV_ADVISE_MR_FLAG_FLUSH}) != 0) return EINVAL;
  if (count == 0 || ranges == nullptr) return EINVAL;
  rnic::RegionTable& regions = context_of(pd->context).adapter->regions();
  std::vector<std::uint64_t> addresses(count);
  // All of them before anything is done.
  for (std::uint32_t i = 0; i < count; ++i) {
    if (const int error = check(regions, pd_of(pd), advice, ranges[i], &addresses[i])) return error;
  }
  if (advice == IBV_ADVISE_MR_ADVICE_PREFETCH_NO_FAULT) return 0;
  for (std::uint32_t i = 0; i < count; ++i) {
    const Result<void> present = memory::fault_in(addresses[i], ranges[i].length,
                                                  advice == IBV_ADVISE_MR_ADVICE_PREFETCH_WRITE);
    // Without the flag it is only a hint; nobody waits for its result.
    if (!present && (flags & IBV_ADVISE_MR_FLAG_FLUSH) != 0) return present.error().code;
  }
  return 0;
}

}  // namespace

int advise_mr(ibv_pd* pd, ibv_advise_mr_advice advice, std::uint32_t flags, ibv_sge* ranges,
              std::uint32_t count) {
  return or_errno([&] { return advise(pd, raw(advice), flags, ranges, count); });
}

}  // namespace gdr::verbs
