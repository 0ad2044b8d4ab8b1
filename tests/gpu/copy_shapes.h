// Which copies of the driver go on beside a kernel that runs, by shape and context.
#pragma once

#include "cuda/driver.h"
#include "kernel.h"

namespace gdr::test {

void print_copy_shapes(const cuda::Driver& driver, Kernel& kernel);

}  // namespace gdr::test
