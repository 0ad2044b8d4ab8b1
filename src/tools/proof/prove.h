// The proof from end to end, on one host or with a server on another (hosts/server.h): inventory,
// registration, transfers, measurement, verdict.
//
//   Result<Report> report = prove(options, listener);
//   if (!report) ...   // EINVAL: wrong use, such as an unknown device; else the server of another
//                      // host is not there; everything else is in the verdict
#pragma once

#include "base/result.h"
#include "proof/listener.h"
#include "proof/options.h"
#include "proof/report.h"

namespace gdr::proof {

Result<Report> prove(const Options& options, Listener& listener);

}  // namespace gdr::proof
