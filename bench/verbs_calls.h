// Verbs calls that a benchmark cannot go on without: each ends the program with one line that names
// the call.
//
//   ibv_context* context = open_first_device();
//   ibv_pd* domain = made(ibv_alloc_pd(context), "ibv_alloc_pd");
//   done(ibv_modify_qp(pair, &attributes, mask), "ibv_modify_qp");
#pragma once

#include <infiniband/verbs.h>

#include <cerrno>
#include <cstring>

#include "give_up.h"

namespace gdr::bench {

template <typename Object>
Object* made(Object* object, const char* call) {
  if (object == nullptr) give_up("{}: {}", call, std::strerror(errno));
  return object;
}

inline void done(int error, const char* call) {
  if (error != 0) give_up("{}: {}", call, std::strerror(error));
}

inline ibv_context* open_first_device() {
  int count = 0;
  ibv_device** list = made(ibv_get_device_list(&count), "ibv_get_device_list");
  if (count == 0) give_up("no RDMA device: is another libibverbs than the software NIC's loaded?");
  ibv_context* context = made(ibv_open_device(list[0]), "ibv_open_device");
  ibv_free_device_list(list);
  return context;
}

}  // namespace gdr::bench
