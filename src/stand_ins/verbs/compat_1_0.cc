// The IBVERBS_1.0 interface of before 2007, with structs of its own. Devices can be listed and
// named through it. None can be opened: its work request and queue pair layouts would need a second
// copy of the fast path for programs that no distribution has shipped since. As no context comes
// from here, the remaining functions have nothing valid to work on and say EOPNOTSUPP.
#include <infiniband/verbs.h>

#include <cerrno>
#include <cstdlib>

#include "verbs/abi.h"
#include "verbs/device.h"

namespace {

struct Device10 {
  void* obsolete_sysfs_device;
  void* obsolete_sysfs_ibdev;
  ibv_device* real_device;
  _ibv_device_ops ops;
};

template <typename T>
T* unsupported() {
  errno = EOPNOTSUPP;
  return nullptr;
}

}  // namespace

#define GDR_1_0(name) GDR_EXPORT_AS(#name "@IBVERBS_1.0")
#define GDR_1_0_UNSUPPORTED(name) \
  GDR_1_0(name) int name##_1_0() { return EOPNOTSUPP; }
#define GDR_1_0_UNSUPPORTED_POINTER(name) \
  GDR_1_0(name) void* name##_1_0() { return unsupported<void>(); }
// Those whose failures are -1 and errno.
#define GDR_1_0_UNSUPPORTED_MINUS_ONE(name) \
  GDR_1_0(name) int name##_1_0() {          \
    errno = EOPNOTSUPP;                     \
    return -1;                              \
  }

// The element before the first holds the list that the devices belong to.
GDR_1_0(ibv_get_device_list) Device10** ibv_get_device_list_1_0(int* count) {
  int found = 0;
  ibv_device** real = gdr::verbs::get_device_list(&found);
  if (real == nullptr) return nullptr;
  auto** list = static_cast<Device10**>(calloc(static_cast<std::size_t>(found) + 2, sizeof(void*)));
  auto* devices =
      static_cast<Device10*>(calloc(static_cast<std::size_t>(found) + 1, sizeof(Device10)));
  if (list == nullptr || devices == nullptr) {
    free(list);
    free(devices);
    gdr::verbs::free_device_list(real);
    errno = ENOMEM;
    return nullptr;
  }
  // One block for all devices, behind an element that no program sees.
  devices[0].real_device = reinterpret_cast<ibv_device*>(real);
  list[0] = devices;
  for (int i = 0; i < found; ++i) {
    devices[i + 1].real_device = real[i];
    list[i + 1] = &devices[i + 1];
  }
  if (count != nullptr) *count = found;
  return list + 1;
}

GDR_1_0(ibv_free_device_list) void ibv_free_device_list_1_0(Device10** list) {
  if (list == nullptr) return;
  Device10* devices = list[-1];
  gdr::verbs::free_device_list(reinterpret_cast<ibv_device**>(devices[0].real_device));
  free(devices);
  free(list - 1);
}

GDR_1_0(ibv_get_device_name) const char* ibv_get_device_name_1_0(Device10* device) {
  return device->real_device->name;
}

GDR_1_0(ibv_get_device_guid) __be64 ibv_get_device_guid_1_0(Device10* device) {
  return gdr::verbs::device_of(device->real_device).guid();
}

GDR_1_0(ibv_ack_async_event) void ibv_ack_async_event_1_0(ibv_async_event* /*event*/) {}
GDR_1_0(ibv_ack_cq_events) void ibv_ack_cq_events_1_0(void* /*cq*/, unsigned /*count*/) {}

GDR_1_0_UNSUPPORTED_POINTER(ibv_open_device)
GDR_1_0_UNSUPPORTED_POINTER(ibv_alloc_pd)
GDR_1_0_UNSUPPORTED_POINTER(ibv_reg_mr)
GDR_1_0_UNSUPPORTED_POINTER(ibv_create_cq)
GDR_1_0_UNSUPPORTED_POINTER(ibv_create_srq)
GDR_1_0_UNSUPPORTED_POINTER(ibv_create_qp)
GDR_1_0_UNSUPPORTED_POINTER(ibv_create_ah)

GDR_1_0_UNSUPPORTED_MINUS_ONE(ibv_get_async_event)
GDR_1_0_UNSUPPORTED_MINUS_ONE(ibv_get_cq_event)
GDR_1_0_UNSUPPORTED_MINUS_ONE(ibv_query_gid)
GDR_1_0_UNSUPPORTED_MINUS_ONE(ibv_query_pkey)

GDR_1_0_UNSUPPORTED(ibv_close_device)
GDR_1_0_UNSUPPORTED(ibv_query_device)
GDR_1_0_UNSUPPORTED(ibv_query_port)
GDR_1_0_UNSUPPORTED(ibv_dealloc_pd)
GDR_1_0_UNSUPPORTED(ibv_dereg_mr)
GDR_1_0_UNSUPPORTED(ibv_resize_cq)
GDR_1_0_UNSUPPORTED(ibv_destroy_cq)
GDR_1_0_UNSUPPORTED(ibv_modify_srq)
GDR_1_0_UNSUPPORTED(ibv_query_srq)
GDR_1_0_UNSUPPORTED(ibv_destroy_srq)
GDR_1_0_UNSUPPORTED(ibv_query_qp)
GDR_1_0_UNSUPPORTED(ibv_modify_qp)
GDR_1_0_UNSUPPORTED(ibv_destroy_qp)
GDR_1_0_UNSUPPORTED(ibv_destroy_ah)
GDR_1_0_UNSUPPORTED(ibv_attach_mcast)
GDR_1_0_UNSUPPORTED(ibv_detach_mcast)
