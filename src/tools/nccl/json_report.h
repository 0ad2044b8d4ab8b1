// The report as one JSON document; docs/nccl.md describes its shape.
#pragma once

#include <string>

#include "nccl/judge.h"

namespace gdr::nccl {

std::string to_json(const Report& report);

}  // namespace gdr::nccl
