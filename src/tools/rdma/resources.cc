#include "rdma/resources.h"

namespace gdr::rdma {
namespace {

// errno is what a failed call left; a library that leaves none must not read as success.
Error failed(const char* call) { return verbs_error(call, errno ? errno : EIO); }

}  // namespace

Result<ProtectionDomain> make_protection_domain(const Device& device) {
  errno = 0;
  ibv_pd* pd = device.library().alloc_pd(device.context());
  if (!pd) return failed("ibv_alloc_pd");
  return ProtectionDomain(pd, {device.library().dealloc_pd});
}

Result<CompletionQueue> make_completion_queue(const Device& device, int entries) {
  errno = 0;
  ibv_cq* cq = device.library().create_cq(device.context(), entries, nullptr, nullptr, 0);
  if (!cq) return failed("ibv_create_cq");
  return CompletionQueue(cq, {device.library().destroy_cq});
}

Result<MemoryRegion> register_memory(const Device& device, ibv_pd* pd, void* address,
                                     std::size_t bytes, int access) {
  errno = 0;
  ibv_mr* mr = device.library().reg_mr(pd, address, bytes, access);
  if (!mr) return failed("ibv_reg_mr");
  return MemoryRegion(mr, {device.library().dereg_mr});
}

Result<MemoryRegion> register_dmabuf(const Device& device, ibv_pd* pd, int fd, std::uint64_t offset,
                                     std::size_t bytes, std::uint64_t iova, int access) {
  errno = 0;
  ibv_mr* mr = device.library().reg_dmabuf_mr(pd, offset, bytes, iova, fd, access);
  if (!mr) return failed("ibv_reg_dmabuf_mr");
  return MemoryRegion(mr, {device.library().dereg_mr});
}

Result<AddressHandle> make_address_handle(const Device& device, ibv_pd* pd,
                                          ibv_ah_attr attributes) {
  errno = 0;
  ibv_ah* ah = device.library().create_ah(pd, &attributes);
  if (!ah) return failed("ibv_create_ah");
  return AddressHandle(ah, {device.library().destroy_ah});
}

}  // namespace gdr::rdma
