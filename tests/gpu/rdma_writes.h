// RDMA writes into GPU memory while a kernel spins that only they can end.
#pragma once

#include "cuda/driver.h"
#include "kernel.h"

namespace gdr::test {

bool rdma_writes_arrive(const cuda::Driver& driver, Kernel& kernel);

}  // namespace gdr::test
