#include <fmt/format.h>
#include <signal.h>

#include <memory>

#include "cli/command_line.h"
#include "cli/help.h"
#include "cli/perf_output.h"
#include "cli/perf_values.h"
#include "cli/subcommands.h"
#include "perf/limits/gpu_copy.h"
#include "text/format.h"

namespace gdr::cli {
namespace {

struct PerfOptions {
  perf::Options perf;
  PerfOutput output;
  bool server = false;
  std::string operations, transport, measures, sizes, near, far, way, processors;
  std::string warm_up, duration;
  std::uint32_t repeats = 10, gid_index = 0, port = perf::kPort;
  std::uint64_t iterations = 0;
  std::uint32_t service_level = 0, traffic_class = 0;
  std::string gpu, nic, peer_nic, secret, session_limit;
  CLI::Option *gid = nullptr, *numa = nullptr, *queue_pairs = nullptr, *threads = nullptr;
  std::uint32_t numa_node = 0;
};

std::atomic<bool> interrupted{false};

// The second time, the program ends at once.
void watch_interrupts() {
  struct sigaction action {};
  action.sa_handler = [](int) { interrupted.store(true); };
  action.sa_flags = static_cast<int>(SA_RESETHAND);
  for (int signal : {SIGINT, SIGTERM}) sigaction(signal, &action, nullptr);
}

void read_timing(const PerfOptions& options, perf::Timing& timing) {
  timing.slices = options.repeats;
  if (options.iterations != 0) {
    timing.slice_messages = std::max<std::uint64_t>(options.iterations / options.repeats, 1);
    return;
  }
  const std::uint64_t all = read_nanoseconds("--duration", options.duration);
  timing.slice_nanoseconds = all / options.repeats;
  timing.warm_up_nanoseconds = read_nanoseconds("--warm-up", options.warm_up);
}

void check_together(const PerfOptions& options) {
  const auto together = [](const char* one, const char* other, const char* instead) {
    throw CLI::ValidationError(
        fmt::format("{} and {} exclude each other: {}", one, other, instead));
  };
  if (options.perf.libraries.soft && options.perf.libraries.require_hardware) {
    together("--soft", "--require-hardware", "give one of them");
  }
  if (options.numa->count() > 0 && !options.processors.empty()) {
    together("--numa", "--cpu", "both name processors; give one of them");
  }
  if (options.server && !options.perf.host.empty()) {
    together("--server", "a host", "the server waits; the client names the server's host");
  }
  if (!options.perf.host.empty() && !options.peer_nic.empty()) {
    together("--peer-nic", "a host", "the server chooses its own: gdr perf --server --nic NIC");
  }
  if (options.perf.bare_copies && (options.server || !options.perf.host.empty())) {
    together("--bare-copies", options.server ? "--server" : "a host",
             "one process copies between the memory of both sides, so both are here");
  }
  const auto needs = [](const std::string& value, bool there, const char* option,
                        const char* what) {
    if (value.empty() || there) return;
    throw CLI::ValidationError(fmt::format("{} is for {}", option, what));
  };
  needs(options.perf.listen_address, options.server, "--listen", "gdr perf --server");
  needs(options.session_limit, options.server, "--session-limit", "gdr perf --server");
  needs(options.secret, options.server || !options.perf.host.empty(), "--secret",
        "gdr perf --server and gdr perf HOST");
}

// Each port has a thread and a queue pair, where nobody has said how many.
void read_ports(PerfOptions& options) {
  perf::Options& perf = options.perf;
  perf.nics = read_names(options.nic);
  perf.peer_nics = read_names(options.peer_nic);
  const std::size_t ports = std::max<std::size_t>(perf.nics.size(), 1);
  if (!perf.peer_nics.empty() && perf.peer_nics.size() != ports) {
    throw CLI::ValidationError(fmt::format("--nic names {} and --peer-nic {}: as many of each",
                                           text::plural(ports, "port"), perf.peer_nics.size()));
  }
  perf::Load& load = perf.wishes.load;
  load.ports = static_cast<std::uint32_t>(ports);
  if (options.threads->count() == 0) load.threads = std::max(load.threads, load.ports);
  if (options.queue_pairs->count() == 0 && ports > 1) {
    load.queue_pairs = std::max(load.queue_pairs, load.threads);
  }
}

// Every value is judged here, so that wrong use costs nothing but its one line.
void read_values(PerfOptions& options) {
  check_together(options);
  perf::Options& perf = options.perf;
  perf::Wishes& wishes = perf.wishes;
  if (!options.operations.empty()) wishes.operations = read_operations(options.operations);
  if (!options.measures.empty()) wishes.measures = read_measures(options.measures);
  if (!options.transport.empty()) wishes.load.transport = read_transport(options.transport);
  if (!options.sizes.empty()) wishes.sizes = read_sizes(options.sizes);
  if (!options.near.empty()) wishes.near = read_places("--memory", options.near);
  if (!options.far.empty()) wishes.far = read_places("--far-memory", options.far);
  if (!options.way.empty()) wishes.load.way = read_way(options.way);
  if (!options.processors.empty()) perf.processors = read_processors("--cpu", options.processors);
  if (options.numa->count() > 0) {
    perf.processors = processors_of_node(perf.root, options.numa_node);
  }
  wishes.load.service_level = static_cast<std::uint8_t>(options.service_level);
  wishes.load.traffic_class = static_cast<std::uint8_t>(options.traffic_class);
  if (options.gid->count() > 0) perf.gid_index = static_cast<std::uint8_t>(options.gid_index);
  perf.port = static_cast<std::uint16_t>(options.port);
  perf.secret_file = given(options.secret);
  if (!options.session_limit.empty()) {
    perf.session_limit = read_nanoseconds("--session-limit", options.session_limit);
  }
  perf.devices.gpu = given(options.gpu);
  read_ports(options);
  read_timing(options, wishes.timing);
}

int failed(const Error& error) {
  say("gdr perf: " + printable(error.message));  // which may be the other side's
  return error.code == EINVAL ? kWrongUse : kFailed;
}

int run_perf(PerfOptions& options) {
  watch_interrupts();
  if (options.server) {
    const Result<void> ended = perf::serve(
        options.perf,
        [](const std::string& line) {
          fmt::print("{}\n", printable(line));
          fflush(stdout);
        },
        interrupted);
    return ended ? 0 : failed(ended.error());
  }
  if (Result<void> writable = check_outputs(options.output); !writable) {
    return failed(writable.error());
  }
  ShownRun shown(options.output);
  Result<perf::Report> report = perf::run(options.perf, shown.listener(), interrupted);
  if (!report) return failed(report.error());
  if (Result<void> written = write_outputs(options.output, *report); !written) {
    return failed(written.error());
  }
  return exit_status(*report);
}

void add_load_options(CLI::App& perf, PerfOptions& options) {
  perf::Load& load = options.perf.wishes.load;
  perf.add_option("--operation", options.operations,
                  "Of write, write-imm, read, send, fetch-add, compare-swap (default: write)")
      ->type_name("LIST");
  perf.add_option("--transport", options.transport, "rc, uc, ud or xrc (default: rc)")
      ->type_name("NAME");
  perf.add_option("--measure", options.measures,
                  "Of bandwidth, latency, rate (default: bandwidth,latency)")
      ->type_name("LIST");
  perf.add_option("--sizes", options.sizes,
                  "Bytes of a message, as in 64,4K or 64-1M for every power of two")
      ->type_name("LIST");
  perf.add_option(
          "--memory", options.near,
          "Of this side, and of the other one unless --far-memory says: of host, gpu, "
          "gpu-vmm, staged (through host memory), pinned (host memory that CUDA has pinned), "
          "with :N for GPU N (default: gpu, staged and host, as far as there are)")
      ->type_name("LIST");
  perf.add_option("--far-memory", options.far, "Of the server; every one with every one")
      ->type_name("LIST");
  perf.add_option("--registration", options.way,
                  "Of GPU memory: dma-buf or peer-memory alone (default: what works)")
      ->type_name("WAY");
  perf.add_flag("--bare-copies", options.perf.bare_copies,
                "In a loopback, also time the CUDA driver's own copies of what each row moves");
  perf.add_flag("--both-ways", load.both_ways, "Both sides send at once");
  perf.add_flag("--check", load.check, "Compare every byte of every message");
  options.queue_pairs =
      perf.add_option("--queue-pairs", load.queue_pairs, "1 to 4096, shared out among the threads");
  options.threads =
      perf.add_option("--threads", load.threads, "On each side, shared out among the ports");
  perf.add_option("--depth", load.depth,
                  "Requests under way on a queue pair at most; fewer of large messages");
  perf.add_option("--batch", load.batch, "Requests given to the NIC by one call");
  perf.add_option("--signal-every", load.signal_every,
                  "Requests for one completion (default: 64; 1 above 8 KiB)");
  perf.add_option("--inline", load.inline_bytes, "Messages up to this size go with the request");
  perf.add_flag("--srq", load.shared_receives, "Queue pairs share their receive requests");
  perf.add_flag("--events", load.events, "Sleep until a completion is told, instead of polling");
  perf.add_flag("--huge-pages", load.huge_pages, "Host memory in huge pages");
  perf.add_flag("--rdma-cm", load.rdma_cm,
                "Connected by the kernel's connection manager (RC), not by what the sides tell");
  perf.add_option("--mtu", load.path_mtu, "Path MTU at most, in bytes")
      ->check(CLI::IsMember({256, 512, 1024, 2048, 4096}));
  perf.add_option("--service-level", options.service_level, "0 to 15")->check(CLI::Range(0, 15));
  perf.add_option("--traffic-class", options.traffic_class, "0 to 255")->check(CLI::Range(0, 255));
}

void add_device_options(CLI::App& perf, PerfOptions& options) {
  perf.add_option("--nic", options.nic,
                  "NAME, NAME:PORT, netdev or PCI address; several are used at once, each with the "
                  "other side's of the same place")
      ->type_name("LIST");
  perf.add_option("--peer-nic", options.peer_nic, "Of the other side of a loopback")
      ->type_name("LIST");
  perf.add_option("--gpu", options.gpu, "Ordinal, PCI address or UUID")->type_name("GPU");
  options.gid = perf.add_option("--gid-index", options.gid_index, "Of the port's GIDs")
                    ->check(CLI::Range(0, 255));
  perf.add_option("--cpu", options.processors,
                  "Processors for this side's threads, as in 0-3,8; a loopback's server has those "
                  "after the client's")
      ->type_name("LIST");
  options.numa =
      perf.add_option("--numa", options.numa_node, "NUMA node whose processors are taken so");
  perf.add_flag("--soft", options.perf.libraries.soft,
                "On the stand-ins, whatever hardware there is");
  perf.add_flag("--require-hardware", options.perf.libraries.require_hardware,
                "Fail rather than use a stand-in");
}

void add_run_options(CLI::App& perf, PerfOptions& options) {
  options.duration = "0.5";
  options.warm_up = "0.1";
  perf.add_option("--duration", options.duration, "Of all repetitions of a row (default: 0.5)")
      ->type_name("SECONDS");
  perf.add_option("--iterations", options.iterations,
                  "Messages of a thread instead of a time (no warm-up then)");
  perf.add_option("--repeats", options.repeats, "Repetitions of a row")
      ->check(CLI::Range(1, 10000));
  perf.add_option("--warm-up", options.warm_up, "Before the first repetition (default: 0.1)")
      ->type_name("SECONDS");
  add_output_options(perf, options.output);
}

// So that a shell takes it as the same words again.
std::string as_typed(const std::vector<std::string>& words) {
  std::string command = "gdr";
  for (const std::string& word : words) {
    const bool plain =
        !word.empty() &&
        word.find_first_not_of(
            "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-_=,.:/+@%") ==
            std::string::npos;
    std::string quoted;
    for (const char one : word) quoted += one == '\'' ? "'\\''" : std::string(1, one);
    command += plain ? " " + word : " '" + quoted + "'";
  }
  return command;
}

// Started by a loopback run alone.
void add_worker(CLI::App& program, Action& chosen) {
  auto options = std::make_shared<PerfOptions>();
  CLI::App* worker = program.add_subcommand(perf::kWorkerCommand, "")->group("");
  add_device_options(*worker, *options);
  worker->callback([options, &chosen] {
    options->perf.nics = read_names(options->nic);
    if (options->gid->count() > 0) {
      options->perf.gid_index = static_cast<std::uint8_t>(options->gid_index);
    }
    if (!options->processors.empty()) {
      options->perf.processors = read_processors("--cpu", options->processors);
    }
    options->perf.version = program_version();
    chosen = [options] { return perf::worker_main(options->perf); };
  });
  CLI::App* copier = program.add_subcommand(perf::GpuCopier::kCommand, "")->group("");
  copier->callback([&chosen] { chosen = [] { return perf::GpuCopier::main(); }; });
}

}  // namespace

void add_perf(CLI::App& program, Action& chosen, const std::vector<std::string>& typed) {
  auto options = std::make_shared<PerfOptions>();
  CLI::App* perf = program.add_subcommand(
      "perf", "Bandwidth, latency and message rate, with host and GPU memory");
  perf->add_option("host", options->perf.host,
                   "Where gdr perf --server runs (default: this host, both sides here)")
      ->type_name("HOST");
  perf->add_flag("--server", options->server, "Wait for clients, which say what to do");
  perf->add_option("--port", options->port, "TCP port of the server")->check(CLI::Range(1, 65535));
  perf->add_option("--listen", options->perf.listen_address,
                   "Address that the server listens on, or any (default: this host alone)")
      ->type_name("ADDRESS");
  perf->add_option("--secret", options->secret,
                   "Server and client: a file that only you can read, with the same text on both "
                   "hosts; without it the server serves whoever reaches its port")
      ->type_name("FILE");
  perf->add_option("--session-limit", options->session_limit,
                   "Longest time that the server gives one client (default: 1h)")
      ->type_name("TIME");
  add_load_options(*perf, *options);
  add_device_options(*perf, *options);
  add_run_options(*perf, *options);
  add_perf_compare(*perf, chosen);
  perf->footer(
      "Exit status: 0 measured; 1 a row could not be measured or --check found a wrong byte; 2 "
      "wrong use.");
  refuse_empty_values(*perf);
  options->perf.command = as_typed(typed);
  perf->callback([options, perf, &chosen] {
    if (!perf->get_subcommands().empty()) return;
    read_values(*options);
    options->perf.version = program_version();
    chosen = [options] { return run_perf(*options); };
  });
  add_worker(program, chosen);
}

}  // namespace gdr::cli
