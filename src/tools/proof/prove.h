// The loopback proof from end to end: inventory, registration, transfers, measurement, verdict.
//
//   Result<Report> report = prove(options, listener);
//   if (!report) ...   // wrong use: an unknown device; everything else is in the verdict
#pragma once

#include "base/result.h"
#include "proof/listener.h"
#include "proof/options.h"
#include "proof/report.h"

namespace gdr::proof {

Result<Report> prove(const Options& options, Listener& listener);

}  // namespace gdr::proof
