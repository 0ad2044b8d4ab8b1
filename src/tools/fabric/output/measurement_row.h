// A measurement in the JSON documents: a list of nine values, since a large fleet has millions.
// Their names stand once in the document.
//
//   [0,5,12,3,3,"proved",false,24100000000,2150]
#pragma once

#include <nlohmann/json_fwd.hpp>
#include <span>
#include <string>

#include "fabric/report.h"

namespace gdr::fabric {

constexpr const char* kMeasurementFields[] = {
    "from",      "to", "round", "rail", "far_rail", "outcome", "is_retest", "bytes_per_second",
    "latency_ns"};

std::string row_of(const Measurement& measurement);
// "[[...],[...]]"; `between` stands between two rows.
std::string rows_of(std::span<const Measurement> measurements, const char* between);
std::string field_names();  // as JSON

// What is wrong with it, behind "measurements[3]"; empty: it is read.
std::string read_row(const nlohmann::json& row, Measurement& measurement);

}  // namespace gdr::fabric
