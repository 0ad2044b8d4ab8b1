// A loopback's server, a process of its own on this host; and rows that are measured with one for
// another tool.
//
//   Result<std::unique_ptr<Loopback>> loopback = Loopback::open(options, near, far);
//   Result<Row> row = (*loopback)->measure(load, timing);
#pragma once

#include <memory>
#include <vector>

#include "perf/client.h"
#include "perf/run.h"
#include "process/worker.h"

namespace gdr::perf {

struct LoopbackServer {
  process::Worker worker;
  Control control;  // goes first, which asks the server to end
};
Result<LoopbackServer> start_loopback_server(const Options& options,
                                             const std::vector<DeviceNames>& names);

// This process is the client. GPUs are those that the loads name.
class Loopback {
 public:
  // Uses libraries, GID index, processors and program of the options.
  static Result<std::unique_ptr<Loopback>> open(const Options& options, const DeviceNames& near,
                                                const DeviceNames& far);

  // The row says why it has no figures; an error: the server is lost.
  Result<Row> measure(const Load& load, const Timing& timing);

 private:
  Loopback(LoopbackServer server, Ports ports, const Options& options);

  LoopbackServer server_;
  Ports ports_;
  Client client_;
};

}  // namespace gdr::perf
