// Preloaded into rdma-core's programs in the guest. Its datagram rsockets address themselves
// without a global route header, as InfiniBand permits and RoCE does not: the kernel refuses the
// address handle, and no datagram rsocket of rdma-core's works on RoCE. This adds the header for
// the port's IPv4 address; everything else stays rdma-core's own.
#include <dlfcn.h>
#include <infiniband/verbs.h>

#include <cerrno>
#include <cstdint>

namespace {

bool is_v4(const ibv_gid& gid) {
  return gid.global.subnet_prefix == 0 && gid.raw[8] == 0 && gid.raw[10] == 0xff &&
         gid.raw[11] == 0xff;
}

}  // namespace

extern "C" __attribute__((visibility("default"))) ibv_ah* ibv_create_ah(ibv_pd* pd,
                                                                        ibv_ah_attr* attributes) {
  using Function = ibv_ah* (*)(ibv_pd*, ibv_ah_attr*);
  static const auto next = reinterpret_cast<Function>(dlsym(RTLD_NEXT, "ibv_create_ah"));
  if (next == nullptr) {
    errno = ENOSYS;
    return nullptr;
  }
  for (int i = 0; attributes->is_global == 0 && i < 16; ++i) {
    ibv_gid gid{};
    if (ibv_query_gid(pd->context, attributes->port_num, i, &gid) != 0 || !is_v4(gid)) continue;
    attributes->is_global = 1;
    attributes->grh.dgid = gid;
    attributes->grh.sgid_index = static_cast<std::uint8_t>(i);
    attributes->grh.hop_limit = 64;
  }
  return next(pd, attributes);
}
