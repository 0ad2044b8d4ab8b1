// Xrcd: an XRC domain as programs see it.
#pragma once

#include <infiniband/verbs.h>

#include <atomic>
#include <cstdint>

#include "rnic/shared.h"

namespace gdr::verbs {

struct Xrcd {
  ibv_xrcd base{};
  std::uint32_t opened = 0;  // of rnic::XrcDomains
  rnic::XrcDomain domain;
  std::atomic<int> users{0};  // queue pairs and shared receive queues of this handle
  std::uint64_t serial = 0;
};

inline Xrcd& xrcd_of(ibv_xrcd* xrcd) { return *reinterpret_cast<Xrcd*>(xrcd); }

}  // namespace gdr::verbs
