// What the program sees: C linkage from rdma_cma.h, default visibility, and librdmacm.map.
#pragma once

#include <rdma/rdma_cma.h>
#include <rdma/rdma_verbs.h>

#define GDR_EXPORT extern "C" __attribute__((visibility("default")))
