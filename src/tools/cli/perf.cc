#include <fmt/format.h>
#include <signal.h>

#include <memory>

#include "cli/command_line.h"
#include "cli/help.h"
#include "cli/interruption.h"
#include "cli/perf_output.h"
#include "cli/perf_values.h"
#include "cli/server_options.h"
#include "cli/subcommands.h"
#include "perf/limits/gpu_copy.h"
#include "text/format.h"
#include "text/shell_word.h"
#include "version/version.h"

namespace gdr::cli {
namespace {

struct PerfOptions {
  perf::Options perf;
  PerfOutput output;
  ServerOptions meeting;
  std::string operations, transport, measures, sizes, near, far, way, processors;
  std::string warm_up, duration;
  std::uint32_t repeats = 10, gid_index = 0;
  std::uint64_t iterations = 0;
  std::uint32_t service_level = 0, traffic_class = 0;
  std::string gpu, nic, peer_nic;
  CLI::Option *gid = nullptr, *numa = nullptr, *queue_pairs = nullptr, *threads = nullptr;
  std::uint32_t numa_node = 0;
};

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
  if (options.perf.libraries.soft && options.perf.libraries.require_hardware) {
    refuse_together("--soft", "--require-hardware", "give one of them");
  }
  if (options.numa->count() > 0 && !options.processors.empty()) {
    refuse_together("--numa", "--cpu", "both name processors; give one of them");
  }
  if (options.meeting.server && (options.output.json || !options.output.files.empty())) {
    refuse_together("--server", options.output.json ? "--json" : "--report",
                    "the client has the results; give it there");
  }
  if (!options.perf.host.empty() && !options.peer_nic.empty()) {
    refuse_together("--peer-nic", "a host",
                    "the server chooses its own: gdr perf --server --nic NIC");
  }
  if (options.perf.bare_copies && (options.meeting.server || !options.perf.host.empty())) {
    refuse_together("--bare-copies", options.meeting.server ? "--server" : "a host",
                    "one process copies between the memory of both sides, so both must be here");
  }
}

// Each port has a thread and a queue pair, where nobody has said how many.
void read_ports(PerfOptions& options) {
  perf::Options& perf = options.perf;
  perf.nics = read_names(options.nic);
  perf.peer_nics = read_names(options.peer_nic);
  const std::size_t ports = std::max<std::size_t>(perf.nics.size(), 1);
  if (!perf.peer_nics.empty() && perf.peer_nics.size() != ports) {
    throw CLI::ValidationError(
        fmt::format("--nic names {} but --peer-nic {}; name as many on both sides",
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
  read_server_options(options.meeting, !options.perf.host.empty(), "gdr perf");
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
  const ServerOptions& meeting = options.meeting;
  perf.port = static_cast<std::uint16_t>(meeting.port);
  perf.listen_address = meeting.listen;
  perf.secret_file = given(meeting.secret);
  if (!meeting.session_limit.empty()) perf.session_limit = meeting.session_limit_nanoseconds;
  perf.devices.gpu = given(options.gpu);
  read_ports(options);
  read_timing(options, wishes.timing);
}

int failed(const Error& error) {
  say("gdr perf: " + printable(error.message));  // which may be the other side's
  return error.code == EINVAL ? kWrongUse : kFailed;
}

int run_perf(PerfOptions& options) {
  const std::atomic<bool>& interrupted = watch_interruption();
  if (options.meeting.server) {
    const Result<void> ended = perf::serve(options.perf, print_server_line, interrupted);
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
  const auto add = [&](const char* name, auto& value, const char* type, const char* help) {
    return perf.add_option(name, value, help)->type_name(type);
  };
  begin_group(perf, "Load");
  add("--operation", options.operations, "LIST",
      "write, write-imm, read, send, fetch-add, compare-swap (default: write)");
  add("--measure", options.measures, "LIST",
      "bandwidth, latency, rate (default: bandwidth,latency)");
  add("--sizes", options.sizes, "LIST",
      "Bytes per message, such as 64,4K; 64-1M means every power of two (default: bandwidth "
      "4K,64K,1M,8M; latency 8,4K,64K; rate 8,64)");
  add("--memory", options.near, "LIST",
      "Memory kinds on this side: host, gpu (cuMemAlloc), gpu-vmm (cuMemCreate), staged (GPU "
      "memory copied through host memory), pinned (host memory pinned by CUDA); gpu:1 names the "
      "GPU (default: gpu,staged,host)");
  add("--far-memory", options.far, "LIST",
      "Memory kinds on the server; all combinations with --memory are run (default: the same "
      "kind as --memory)");
  add("--transport", options.transport, "NAME", "rc, uc, ud or xrc (default: rc)");
  add("--registration", options.way, "WAY",
      "How GPU memory is registered: dma-buf or peer-memory (default: what works, dma-buf "
      "first)");
  perf.add_flag("--bare-copies", options.perf.bare_copies,
                "Also time bare CUDA copies of the same bytes, for each bandwidth row with GPU "
                "memory; only when both sides run here");
  perf.add_flag("--both-ways", load.both_ways, "Both sides send at the same time");
  perf.add_flag("--check", load.check, "Compare every byte of every message");
  options.queue_pairs =
      add("--queue-pairs", load.queue_pairs, "N",
          "Queue pairs in all, spread over the threads; up to 4096 (default: 1 per port)");
  options.threads =
      add("--threads", load.threads, "N",
          "Threads on each side, spread over the ports; up to 64 (default: 1 per port)");
  add("--depth", load.depth, "N",
      "Most requests in flight per queue pair; fewer if messages are large (default: 128)");
  add("--batch", load.batch, "N", "Requests per post call (default: 1)");
  add("--signal-every", load.signal_every, "N",
      "Requests per completion (default: 64; 1 above 8 KiB)");
  add("--inline", load.inline_bytes, "BYTES",
      "Largest message that is sent inline (default: 0, none)");
  perf.add_flag("--srq", load.shared_receives, "Use one shared receive queue per thread");
  perf.add_flag("--events", load.events, "Wait for completion events instead of polling");
  perf.add_flag("--huge-pages", load.huge_pages, "Allocate host memory in huge pages");
  perf.add_flag("--rdma-cm", load.rdma_cm,
                "Connect RC queue pairs with librdmacm instead of over TCP");
  add("--mtu", load.path_mtu, "BYTES",
      "Largest path MTU: 256, 512, 1024, 2048 or 4096 (default: the ports' own)")
      ->check(CLI::IsMember({256, 512, 1024, 2048, 4096}));
  add("--service-level", options.service_level, "N",
      "InfiniBand service level, 0 to 15 (default: 0)")
      ->check(CLI::Range(0, 15));
  add("--traffic-class", options.traffic_class, "N",
      "Traffic class, 0 to 255; its upper six bits are RoCE's DSCP (default: 0)")
      ->check(CLI::Range(0, 255));
}

void add_device_options(CLI::App& perf, PerfOptions& options) {
  begin_group(perf, "Placement");
  perf.add_option("--nic", options.nic,
                  "NIC ports: NAME, NAME:PORT, netdev or PCI address; several are used at once, "
                  "first local with first remote port, and so on (default: nearest to the GPU)")
      ->type_name("LIST");
  perf.add_option("--peer-nic", options.peer_nic,
                  "NIC ports of the other side, when both sides run here (default: as --nic)")
      ->type_name("LIST");
  perf.add_option("--gpu", options.gpu, "GPU: ordinal, PCI address or UUID (default: the first)")
      ->type_name("GPU");
  options.gid = perf.add_option("--gid-index", options.gid_index,
                                "Index of the port's GID (default: RoCE v2, IPv4 first)")
                    ->type_name("N")
                    ->check(CLI::Range(0, 255));
  perf.add_option("--cpu", options.processors,
                  "CPUs for this side's threads, such as 0-3,8; in loopback the server uses the "
                  "ones after them (default: any)")
      ->type_name("LIST");
  options.numa =
      perf.add_option("--numa", options.numa_node, "Pin threads to the CPUs of this NUMA node")
          ->type_name("NODE");
}

void add_time_options(CLI::App& perf, PerfOptions& options) {
  options.duration = "0.5";
  options.warm_up = "0.1";
  begin_group(perf, "Time");
  perf.add_option("--duration", options.duration,
                  "Time per row, all repetitions together, such as 0.5, 200ms or 1m (default: 0.5)")
      ->type_name("SECONDS");
  perf.add_option("--iterations", options.iterations,
                  "Messages per thread and row, instead of a time; without warm-up")
      ->type_name("N");
  perf.add_option("--repeats", options.repeats, "Repetitions per row, 1 to 10000 (default: 10)")
      ->type_name("N")
      ->check(CLI::Range(1, 10000));
  perf.add_option("--warm-up", options.warm_up, "Time before the first repetition (default: 0.1)")
      ->type_name("SECONDS");
}

void add_common_options(CLI::App& perf, PerfOptions& options) {
  perf.add_option("HOST", options.perf.host,
                  "Host on which gdr perf --server runs (default: both sides run here)")
      ->type_name("");
  begin_group(perf, "Common");
  perf.add_flag("--server", options.meeting.server,
                "Wait for clients; they choose what is measured");
  perf.add_flag("--soft", options.perf.libraries.soft,
                "Use the stand-ins (software NIC and GPU) even if there is hardware (default: "
                "only for what is missing)");
  perf.add_flag("--require-hardware", options.perf.libraries.require_hardware,
                "Fail instead of using a stand-in");
  add_output_options(perf, options.output);
}

// The command, quoted so that a shell reads the same words again.
std::string as_typed(const std::vector<std::string>& words) {
  return "gdr " + text::shell_words(words);
}

// A loopback run starts this as its server.
void add_worker(CLI::App& program, Action& chosen) {
  auto options = std::make_shared<PerfOptions>();
  CLI::App* worker = program.add_subcommand(perf::kWorkerCommand, "")->group("");
  add_device_options(*worker, *options);
  worker->add_flag("--soft", options->perf.libraries.soft);
  worker->add_flag("--require-hardware", options->perf.libraries.require_hardware);
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
      "perf", "Measure RDMA bandwidth, latency and message rate with host and GPU memory");
  add_perf_compare(*perf, chosen);
  add_common_options(*perf, *options);
  add_load_options(*perf, *options);
  add_device_options(*perf, *options);
  add_time_options(*perf, *options);
  begin_group(*perf, "Client and server");
  add_server_options(*perf, options->meeting, perf::kPort);
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
