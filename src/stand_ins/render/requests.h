// A program's ioctl() of a render node, answered as the kernel's DRM core and its i915 driver do.
//
//   if (const std::optional<int> answer = answer_request(nodes, fd, request, argument)) {
//     return *answer;  // 0, or a negative errno value
//   }
//
// i915 has the smallest interface among the drivers that programs allocate dma-bufs from: a buffer
// is made of a size alone. (amdgpu's have domains and flags.)
#pragma once

#include <optional>

#include "render/nodes.h"

namespace gdr::render {

// What a program is told of the driver. The name is the interface that it has; the description says
// what it really is.
inline constexpr char kDriverName[] = "i915";
inline constexpr char kDriverDate[] = "0";  // as of Linux 6.14
inline constexpr char kDriverDescription[] = "gdrkit software GPU";

// Nothing: the descriptor is no render node of ours, or the request is not DRM's.
std::optional<int> answer_request(Nodes& nodes, int descriptor, unsigned long request,
                                  void* argument);

}  // namespace gdr::render
