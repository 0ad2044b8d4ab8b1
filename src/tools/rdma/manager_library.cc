#include "rdma/manager_library.h"

#include <dlfcn.h>

#include <string>

namespace gdr::rdma {
namespace {

constexpr const char* kPath = "librdmacm.so.1";

template <typename Function>
bool find(void* handle, const char* name, const char* version, Function& function) {
  function = reinterpret_cast<Function>(dlvsym(handle, name, version));
  return function != nullptr;
}

bool find_all(void* handle, ManagerLibrary& library) {
  constexpr const char* kFirst = "RDMACM_1.0";
  constexpr const char* kThird = "RDMACM_1.2";  // rdma-core 23
  return find(handle, "rdma_create_event_channel", kFirst, library.create_event_channel) &&
         find(handle, "rdma_destroy_event_channel", kFirst, library.destroy_event_channel) &&
         find(handle, "rdma_create_id", kFirst, library.create_id) &&
         find(handle, "rdma_destroy_id", kFirst, library.destroy_id) &&
         find(handle, "rdma_bind_addr", kFirst, library.bind_addr) &&
         find(handle, "rdma_listen", kFirst, library.listen) &&
         find(handle, "rdma_get_src_port", kFirst, library.get_src_port) &&
         find(handle, "rdma_set_option", kFirst, library.set_option) &&
         find(handle, "rdma_resolve_addr", kFirst, library.resolve_addr) &&
         find(handle, "rdma_resolve_route", kFirst, library.resolve_route) &&
         find(handle, "rdma_connect", kFirst, library.connect) &&
         find(handle, "rdma_accept", kFirst, library.accept) &&
         find(handle, "rdma_reject", kFirst, library.reject) &&
         find(handle, "rdma_establish", kThird, library.establish) &&
         find(handle, "rdma_init_qp_attr", kThird, library.init_qp_attr) &&
         find(handle, "rdma_get_cm_event", kFirst, library.get_cm_event) &&
         find(handle, "rdma_ack_cm_event", kFirst, library.ack_cm_event) &&
         find(handle, "rdma_event_str", kFirst, library.event_str);
}

}  // namespace

Result<const ManagerLibrary*> ManagerLibrary::load() {
  static const Result<const ManagerLibrary*> loaded = []() -> Result<const ManagerLibrary*> {
    void* handle = dlopen(kPath, RTLD_NOW | RTLD_LOCAL);
    if (!handle) {
      const char* why = dlerror();
      return Error{ENOENT, std::string("cannot load ") + kPath + ": " +
                               (why ? why : "unknown error") +
                               "; install it (Debian: apt-get install librdmacm1)"};
    }
    static ManagerLibrary library;
    if (find_all(handle, library)) return &library;
    return Error{ENOSYS, std::string(kPath) + " is too old: rdma-core 23 or newer"};
  }();
  return loaded;
}

}  // namespace gdr::rdma
