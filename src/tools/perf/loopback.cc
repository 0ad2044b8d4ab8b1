#include "perf/loopback.h"

namespace gdr::perf {
namespace {

std::vector<std::string> worker_arguments(const Options& options,
                                          const std::vector<DeviceNames>& names) {
  std::string nics;
  for (const DeviceNames& port : names) {
    nics += (nics.empty() ? "" : ",") + port.nic + ":" + std::to_string(port.port);
  }
  std::vector<std::string> arguments{kWorkerCommand, "--nic", nics};
  if (options.libraries.soft) arguments.push_back("--soft");
  if (options.libraries.require_hardware) arguments.push_back("--require-hardware");
  if (options.gid_index) {
    arguments.insert(arguments.end(), {"--gid-index", std::to_string(*options.gid_index)});
  }
  // Those after the client's own, and the same ones again where there are no more.
  std::string processors;
  for (std::size_t i = 0; i < options.processors.size(); ++i) {
    const std::size_t at = (i + options.wishes.load.threads) % options.processors.size();
    processors += (i == 0 ? "" : ",") + std::to_string(options.processors[at]);
  }
  if (!processors.empty()) arguments.insert(arguments.end(), {"--cpu", processors});
  return arguments;
}

}  // namespace

Result<process::Worker> start_loopback_server(const Options& options,
                                              const std::vector<DeviceNames>& names) {
  return process::Worker::start(options.program, worker_arguments(options, names));
}

}  // namespace gdr::perf
