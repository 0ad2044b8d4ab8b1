// A cell of comma-separated values (RFC 4180), fit to be shown as well.
//
//   csv_cell("mlx5_0")     // mlx5_0
//   csv_cell("2, \"far\"") // "2, ""far"""
#pragma once

#include <string>
#include <string_view>

namespace gdr::text {

// The text may be another's, and standard output a terminal: see base/printable.h.
std::string csv_cell(std::string_view given);

}  // namespace gdr::text
