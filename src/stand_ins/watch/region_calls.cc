// The functions of libibverbs that register memory. Cold.
#include <cerrno>

#include "watch/gpu.h"
#include "watch/process.h"
#include "watch/regions.h"
#include "watch/verbs_calls.h"
#include "watch/watched.h"

using namespace gdr::watch;  // NOLINT: this file is the C interface of the namespace
using gdr::ledger::Way;

namespace {

// `call` registers; a failure is noted, too: it says why bytes take another path.
template <typename Call>
ibv_mr* watch_registration(const ibv_pd* pd, Registration how, Call call) {
  const Nested nested;
  const bool counts = Nested::is_outermost() && ledger() != nullptr;
  GpuPlace place;
  if (counts) {
    const int kept = errno;
    place = how.way == Way::kDmaBuf ? gpu_place_of_dma_buf(how.address, how.bytes)
                                    : gpu_place(how.address, how.bytes);
    errno = kept;
  }
  ibv_mr* made = call();
  const int kept = errno;
  if (made == nullptr) how.error = kept != 0 ? kept : EIO;
  if (counts) note_region(device_of(pd->context), made, how, place);
  errno = kept;
  return made;
}

ibv_mr* missing() {
  errno = ENOSYS;
  return nullptr;
}

std::uint64_t number_of(const void* address) { return reinterpret_cast<std::uintptr_t>(address); }

}  // namespace

GDR_WATCHED ibv_mr* ibv_reg_mr(ibv_pd* pd, void* address, std::size_t bytes, int access) {
  auto* call = real<decltype(ibv_reg_mr)>(kRegMr);
  if (call == nullptr) return missing();
  const Registration how{Way::kAddress, number_of(address), bytes, static_cast<unsigned>(access)};
  return watch_registration(pd, how, [=] { return call(pd, address, bytes, access); });
}

GDR_WATCHED ibv_mr* ibv_reg_mr_iova(ibv_pd* pd, void* address, std::size_t bytes,
                                    std::uint64_t iova, int access) {
  auto* call = real<decltype(ibv_reg_mr_iova)>(kRegMrIova);
  if (call == nullptr) return missing();
  const Registration how{Way::kAddress, number_of(address), bytes, static_cast<unsigned>(access)};
  return watch_registration(pd, how, [=] { return call(pd, address, bytes, iova, access); });
}

GDR_WATCHED ibv_mr* ibv_reg_mr_iova2(ibv_pd* pd, void* address, std::size_t bytes,
                                     std::uint64_t iova, unsigned access) {
  auto* call = real<decltype(ibv_reg_mr_iova2)>(kRegMrIova2);
  if (call == nullptr) return missing();
  const Registration how{Way::kAddress, number_of(address), bytes, access};
  return watch_registration(pd, how, [=] { return call(pd, address, bytes, iova, access); });
}

GDR_WATCHED ibv_mr* ibv_reg_dmabuf_mr(ibv_pd* pd, std::uint64_t offset, std::size_t bytes,
                                      std::uint64_t iova, int descriptor, int access) {
  auto* call = real<decltype(ibv_reg_dmabuf_mr)>(kRegDmaBufMr);
  if (call == nullptr) return missing();
  const auto register_it = [=] { return call(pd, offset, bytes, iova, descriptor, access); };
  // Programs ask whether there are dma-bufs at all by registering none.
  if (descriptor < 0) return register_it();
  const Registration how{Way::kDmaBuf, iova, bytes, static_cast<unsigned>(access)};
  return watch_registration(pd, how, register_it);
}

GDR_WATCHED int ibv_dereg_mr(ibv_mr* region) {
  auto* call = real<decltype(ibv_dereg_mr)>(kDeregMr);
  if (call == nullptr) return ENOSYS;
  // Before it: its key may belong to another thread's region right afterwards.
  const std::uint32_t device = device_of(region->context);
  const NotedRegion known =
      device == gdr::ledger::kNone ? NotedRegion{} : forget_region(device, *region);
  const int result = call(region);
  if (result == 0) {
    note_released(known);
  } else {
    restore_region(known);
  }
  return result;
}
