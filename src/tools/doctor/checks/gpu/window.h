// What the checks of BAR1 share.
#pragma once

#include <cstdint>
#include <string>

#include "doctor/check.h"

namespace gdr::doctor {

constexpr std::uint64_t kMebibyte = 1 << 20, kGibibyte = 1 << 30;

inline std::string size_text(std::uint64_t bytes) {
  if (bytes >= kGibibyte) return std::to_string(bytes / kGibibyte) + " GiB";
  return std::to_string(bytes / kMebibyte) + " MiB";
}

inline Fix larger_window() {
  return {{},
          to_do("switch on Above 4G Decoding and Resizable BAR in the firmware setup; on a "
                "data-centre GPU choose the compute mode with NVIDIA's displaymodeselector")};
}

}  // namespace gdr::doctor
