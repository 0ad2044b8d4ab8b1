// A run of `gdr fabric`, on the process that collects.
//
//   RunOptions options;
//   options.plan.pattern = Pattern::kTournament;
//   Result<Report> report = run(options, std::move(members), listener, interrupted);
#pragma once

#include <atomic>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "base/result.h"
#include "fabric/collector/collector.h"
#include "fabric/collector/plan.h"
#include "fabric/hub/hub.h"
#include "fabric/output/listener.h"

namespace gdr::fabric {

struct RunOptions {
  CollectorOptions collector;
  PlanOptions plan;
  std::string version, date, host, launcher;
};

// `hub`: it listens already, or members were added to it. EINVAL: fewer than two hosts.
Result<Report> run(const RunOptions& options, Hub& hub, Listener& listener,
                   const std::atomic<bool>& interrupted);

}  // namespace gdr::fabric
