// Measurements as text: a title for a path, the heads of its columns, and a row for each
// direction.
#pragma once

#include <string>

#include "proof/report.h"

namespace gdr::proof {

// "Speed of RC write, soft0 → soft1, GPU 0: …": in full, or in one line of 80 columns.
std::string speed_title(const Measurement& measurement, bool brief, bool soft_nic);
std::string speed_columns(const Measurement& measurement);
std::string speed_row(const Measurement& measurement);

}  // namespace gdr::proof
