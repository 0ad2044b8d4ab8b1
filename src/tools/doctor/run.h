// Carries out checks and times each.
//
//   Host host{files, inventory, environment, &probes, {}, {}};
//   Report report = examine(host, {});
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "doctor/host.h"
#include "doctor/report.h"

namespace gdr::doctor {

struct Selection {
  std::vector<const Check*> checks;  // none: all of them
  bool probes = true;
};

// Those that read files first, then probes, each by rank. Probes are left out, and said to be,
// where they are not wanted and where the host is not the one this program runs on.
// `on_check` is told of each before it begins.
Report examine(const Host& host, const Selection& selection,
               const std::function<void(const Check&)>& on_check = {});

}  // namespace gdr::doctor
