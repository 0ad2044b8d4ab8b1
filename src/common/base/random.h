// Unpredictable numbers from the kernel, for keys and identifiers. Cold path only.
#pragma once

#include <cstdint>

namespace gdr {

std::uint64_t random_u64();

}  // namespace gdr
