// What the environment says of copies by GPUs.
#pragma once

#include "base/result.h"

namespace gdr::memory {

// GDR_GPU_CONTEXT: whether copies between GPUs are made in the program's primary context. EINVAL
// with one line that says what is allowed.
Result<bool> copies_in_primary();

}  // namespace gdr::memory
