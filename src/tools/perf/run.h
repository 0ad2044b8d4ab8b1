// A run of `gdr perf`, from devices to the last row: loopback, or as a client; and the server.
//
//   Result<Report> report = run(options, listener);
//   Result<void> ended = serve(options, listener);
#pragma once

#include <atomic>
#include <functional>
#include <string>

#include "base/clock.h"
#include "participants/libraries.h"
#include "participants/select.h"
#include "perf/output/listener.h"
#include "perf/plan.h"
#include "perf/report.h"

namespace gdr::perf {

constexpr std::uint16_t kPort = 18600;

struct Options {
  std::string host;                            // the server's; empty: loopback
  std::uint16_t port = kPort;                  // the server's
  std::string listen_address;                  // of a server; empty: this host alone; "any": all
  std::optional<std::string> secret_file;      // that both sides have
  Nanoseconds session_limit = 3600 * kSecond;  // of a server: a client's whole time
  participants::DeviceWishes devices;          // GPUs
  // Each port talks to the other side's port at the same place in its list; empty: chosen.
  std::vector<std::string> nics, peer_nics;
  participants::LibraryWishes libraries;
  std::optional<std::uint8_t> gid_index;
  Wishes wishes;
  std::vector<int> processors;  // threads are bound to them, in turn
  bool bare_copies = false;     // of the CUDA driver, beside each row of GPU memory; loopback alone
  std::string version, command;

  // Where things are; tests point them elsewhere.
  std::string root = "/";
  std::string program = "/proc/self/exe";  // started as the server of a loopback run
};

// Ended early, the report has what was done until then.
Result<Report> run(const Options& options, Listener& listener,
                   const std::atomic<bool>& interrupted);

// Serves client after client until interrupted. `say`: a line for people.
Result<void> serve(const Options& options, const std::function<void(const std::string&)>& say,
                   const std::atomic<bool>& interrupted);

// What the started process of a loopback run does (process/worker.h).
constexpr const char* kWorkerCommand = "perf-worker";
int worker_main(const Options& options);

}  // namespace gdr::perf
