// What the program sees: C linkage from rdma_cma.h, default visibility, and librdmacm.map.
#pragma once

#include <rdma/rdma_cma.h>
#include <rdma/rdma_verbs.h>

#include <cstdint>

#define GDR_EXPORT extern "C" __attribute__((visibility("default")))

// What came after rdma-core 44, whose header may be the one that this is compiled with.
namespace gdr::rdmacm {
inline constexpr auto kAddressesResolved = static_cast<rdma_cm_event_type>(16);
inline constexpr auto kUserEvent = static_cast<rdma_cm_event_type>(18);
inline constexpr int kFromSubnet = 0x10, kFromNames = 0x20;  // RAI_SA, RAI_DNS
}  // namespace gdr::rdmacm

GDR_EXPORT int rdma_resolve_addrinfo(rdma_cm_id* id, const char* node, const char* service,
                                     const rdma_addrinfo* hints);
GDR_EXPORT int rdma_query_addrinfo(rdma_cm_id* id, rdma_addrinfo** info);
GDR_EXPORT int rdma_write_cm_event(rdma_cm_id* id, rdma_cm_event_type event, int status,
                                   std::uint64_t argument);
