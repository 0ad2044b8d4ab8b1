// The render nodes of software GPUs as files: /dev/dri/renderD128 and so on. Who opens one reaches
// the preloaded library of the layer `render`, never this file.
//
//   for (const Entry& entry : make_render_nodes(render::shown_from_environment())) ...
#pragma once

#include <string>
#include <vector>

#include "presence/entry.h"
#include "render/shown.h"

namespace gdr::presence {

std::vector<Entry> make_render_nodes(const render::Shown& shown);

// What the preloaded library needs to know of them: see make_places(). The folder may have nodes of
// the machine's own, too.
std::string make_render_places(const render::Shown& shown);

}  // namespace gdr::presence
