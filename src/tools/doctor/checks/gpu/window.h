// What the checks of BAR1 share.
#pragma once

#include <cstdint>

#include "doctor/check.h"

namespace gdr::doctor {

constexpr std::uint64_t kMebibyte = 1 << 20;

inline Fix larger_window() {
  return {{},
          to_do("switch on Above 4G Decoding and Resizable BAR in the firmware setup; on a "
                "data-centre GPU choose the compute mode with NVIDIA's displaymodeselector")};
}

}  // namespace gdr::doctor
