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

// Where the stand-ins lie beside the running program, for Options::soft_verbs and soft_cuda.
std::string soft_verbs_path();
std::string soft_cuda_path();

}  // namespace gdr::proof
