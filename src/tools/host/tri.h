// Tri: yes, no, or nobody could tell.
#pragma once

#include <cstdint>

namespace gdr::host {

enum class Tri : std::int8_t { kUnknown, kNo, kYes };

}  // namespace gdr::host
