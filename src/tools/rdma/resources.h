// Owners of verbs objects: each is destroyed by the library that made it. Declare them in the order
// device, protection domain, memory region, completion queue, queue pair, so that they go in
// reverse.
//
//   auto pd = rdma::make_protection_domain(device);
//   auto mr = rdma::register_memory(*pd, buffer, bytes, IBV_ACCESS_LOCAL_WRITE);
#pragma once

#include <infiniband/verbs.h>

#include <memory>

#include "base/result.h"
#include "rdma/device.h"
#include "rdma/library.h"

namespace gdr::rdma {

// The deleter keeps the library's own function; its answer is of no use to anyone at that point.
template <typename T>
struct Destroy {
  int (*function)(T*) = nullptr;
  void operator()(T* object) const { (void)function(object); }
};
template <typename T>
using Owned = std::unique_ptr<T, Destroy<T>>;

using ProtectionDomain = Owned<ibv_pd>;
using MemoryRegion = Owned<ibv_mr>;
using CompletionQueue = Owned<ibv_cq>;
using AddressHandle = Owned<ibv_ah>;
using Flow = Owned<ibv_flow>;

Result<ProtectionDomain> make_protection_domain(const Device& device);
Result<CompletionQueue> make_completion_queue(const Device& device, int entries);

// The peer-memory way when `address` is not host memory: the kernel asks its clients whose it is.
Result<MemoryRegion> register_memory(const Device& device, ibv_pd* pd, void* address,
                                     std::size_t bytes, int access);
// The dma-buf way. `iova` is the address that remote work requests will use.
Result<MemoryRegion> register_dmabuf(const Device& device, ibv_pd* pd, int fd, std::uint64_t offset,
                                     std::size_t bytes, std::uint64_t iova, int access);

Result<AddressHandle> make_address_handle(const Device& device, ibv_pd* pd, ibv_ah_attr attributes);

}  // namespace gdr::rdma
