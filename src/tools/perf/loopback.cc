#include "perf/loopback.h"

namespace gdr::perf {
namespace {

const std::atomic<bool> kNeverInterrupted{false};

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

Result<LoopbackServer> start_loopback_server(const Options& options,
                                             const std::vector<DeviceNames>& names) {
  Result<process::Worker> started =
      process::Worker::start(options.program, worker_arguments(options, names));
  if (!started) return started.error();
  Control control(started->take_socket());
  return LoopbackServer{*std::move(started), std::move(control)};
}

Loopback::Loopback(LoopbackServer server, Ports ports, const Options& options)
    : server_(std::move(server)),
      ports_(std::move(ports)),
      client_(server_.control, ports_, options.version, options.processors, kNeverInterrupted) {}

Result<std::unique_ptr<Loopback>> Loopback::open(const Options& options, const DeviceNames& near,
                                                 const DeviceNames& far) {
  Result<Ports> ports = open_ports({near});
  if (!ports) return ports.error();
  Result<LoopbackServer> server = start_loopback_server(options, {far});
  if (!server) return server.error();
  std::unique_ptr<Loopback> loopback(new Loopback(*std::move(server), *std::move(ports), options));
  if (Result<void> met = loopback->client_.greet(); !met) return met.error();
  if (Result<void> begun = loopback->client_.begin({}); !begun) return begun.error();
  return loopback;
}

Result<Row> Loopback::measure(const Load& load, const Timing& timing) {
  Row measured;
  Result<void> done = client_.run(
      {load, {load.size}, timing}, [&](Row row) { measured = std::move(row); }, [](const Load&) {});
  if (!done) return done.error();
  return measured;
}

}  // namespace gdr::perf
