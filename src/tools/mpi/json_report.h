// The report as one JSON document; docs/mpi.md describes its shape.
#pragma once

#include <string>

#include "mpi/survey.h"

namespace gdr::mpi {

std::string to_json(const Report& report);

}  // namespace gdr::mpi
