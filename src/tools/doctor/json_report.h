// The report as one JSON document.
#pragma once

#include <string>

#include "doctor/container.h"
#include "doctor/report.h"
#include "text/envelope.h"

namespace gdr::doctor {

// `container`: null where it was not asked for.
std::string to_json(const Report& report, const text::Provenance& provenance = {},
                    const ContainerView* container = nullptr);

}  // namespace gdr::doctor
