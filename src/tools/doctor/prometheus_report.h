// The report as metrics, in the text format that node_exporter's textfile collector reads
// (Prometheus' exposition format 0.0.4):
//
//   gdr doctor --report /var/lib/node_exporter/gdr.prom
//
// gdr_doctor_check has one sample for each finding: 0 ok, 1 warn, 2 fail, 3 unknown.
#pragma once

#include <string>

#include "doctor/report.h"

namespace gdr::doctor {

std::string to_prometheus(const Report& report);

}  // namespace gdr::doctor
