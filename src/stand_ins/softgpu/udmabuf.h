// make_udmabuf: a dma-buf of the kernel's own, made of backings of device memory by /dev/udmabuf.
//
//   Result<UniqueFd> buffer = make_udmabuf({{range->backing, range->offset, 2 << 20}});
//
// Any driver can import it, a real NIC's too, and then reaches the pages that copies to and from
// device memory reach. The kernel keeps these pages as long as somebody has the dma-buf.
#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "base/result.h"
#include "base/unique_fd.h"
#include "softgpu/backing.h"

namespace gdr::softgpu {

struct UdmabufPart {
  std::shared_ptr<Backing> backing;
  std::uint64_t offset = 0;  // in it; whole host pages, as the length
  std::uint64_t bytes = 0;
};

// The parts one behind the other. Fails without /dev/udmabuf, and with more than its limits allow
// (64 MiB and 1,024 parts, unless its parameters say otherwise).
Result<UniqueFd> make_udmabuf(const std::vector<UdmabufPart>& parts);

}  // namespace gdr::softgpu
