// The bits of a packet's headers that mean nothing: read as anything, written as zeros.
#pragma once

#include <algorithm>
#include <span>

#include "wire/opcode.h"

namespace gdr::wire {

// Six bits behind the congestion bits, seven behind the acknowledge request, the first byte of
// XRCETH and of DETH's second word, and all of a CNP's padding.
inline void clear_reserved_bits(std::span<std::byte> headers, const OpcodeInfo& info) {
  headers[4] &= std::byte{0xc0};
  headers[8] &= std::byte{0x80};
  if (info.is(kHasXrceth)) headers[kBthBytes] = std::byte{0};
  if (info.is(kHasDeth)) headers[kBthBytes + 4] = std::byte{0};
  if (info.is(kHasCnpPadding)) {
    std::fill(headers.begin() + kBthBytes, headers.end(), std::byte{0});
  }
}

}  // namespace gdr::wire
