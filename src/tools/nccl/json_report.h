// The report as one JSON document; docs/nccl.md describes its shape.
#pragma once

#include <string>
#include <string_view>

#include "nccl/judge.h"
#include "text/envelope.h"

namespace gdr::nccl {

// `tool`: "gdr nccl check" or "gdr nccl run".
std::string to_json(const Report& report, std::string_view tool = "gdr nccl check",
                    const text::Provenance& provenance = {});

}  // namespace gdr::nccl
