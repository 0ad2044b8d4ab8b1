// The matrix as nvidia-smi topo -m lays it out, with its legends. In a terminal too narrow for it,
// columns go on in further blocks.
#pragma once

#include <cstddef>
#include <string>

#include "topo/report.h"

namespace gdr::topo {

// `columns` 0: as wide as it is.
std::string matrix_text(const Report& report, std::size_t columns);

}  // namespace gdr::topo
