#include "fabric/run.h"

#include <fmt/format.h>

#include <set>

namespace gdr::fabric {
namespace {

// One host has nobody to talk to, whatever it is called.
Result<void> check_hosts(const CollectorOptions& options) {
  std::set<std::uint32_t> nodes;
  for (const ExpectedMember& member : options.expected) nodes.insert(member.node);
  const std::size_t hosts = options.processes_as_hosts ? options.expected.size() : nodes.size();
  if (hosts >= 2) return {};
  const std::string name = options.expected.empty() ? "" : options.expected.front().host;
  return Error{EINVAL, fmt::format("two hosts or more are needed, and {} takes part; to try it on "
                                   "one host: gdr fabric --local 4",
                                   name.empty() ? "one" : "only " + name)};
}

}  // namespace

Result<Report> run(const RunOptions& options, Hub& hub, Listener& listener,
                   const std::atomic<bool>& interrupted) {
  if (Result<void> enough = check_hosts(options.collector); !enough) return enough.error();
  Report report;
  report.collector = options.host;
  report.launcher = options.launcher;
  report.date = options.date;
  report.version = options.version;
  Plan plan(options.plan, listener);
  Collector collector(options.collector, plan, listener, report, now());
  hub.serve(collector, options.collector.expected.size(), interrupted);
  return report;
}

}  // namespace gdr::fabric
