// RDMA writes into GPU memory while a kernel spins that only they can end.
#pragma once

#include "cuda/driver.h"
#include "kernel.h"

namespace gdr::test {

// From the host; from GPU memory, too, beside a kernel that leaves room on the GPU: a copy within
// one GPU is a kernel of the driver's.
bool rdma_writes_arrive(const cuda::Driver& driver, Kernel& kernel, bool has_room);

}  // namespace gdr::test
