// The render nodes of software GPUs, /dev/dri/renderD128 and so on, which a preloaded library
// answers for.
//
//   inputs.render = find_render_nodes(stand_ins, "/dev/dri", environment(kRenderVariable));
//
#pragma once

#include <optional>
#include <string>

namespace gdr::cli {

// Tells the library, and who shows the nodes as files, the number of the first.
inline constexpr const char* kRenderVariable = "GDR_RENDER_FIRST";

struct RenderNodes {
  std::string library;  // for LD_PRELOAD
  int first = 0;
};

// Behind the nodes that this machine's drivers have made in `folder`, as the kernel would number a
// further GPU. `outer`: the variable's value; from that number on the nodes are those of the `gdr
// run` around this one, and no driver's. Nothing: the library is not there, or no number is left.
std::optional<RenderNodes> find_render_nodes(const std::string& stand_ins,
                                             const std::string& folder,
                                             const std::optional<std::string>& outer);

}  // namespace gdr::cli
