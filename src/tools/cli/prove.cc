#include "proof/prove.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstdio>
#include <memory>

#include "base/environment.h"
#include "base/printable.h"
#include "cli/command_line.h"
#include "cli/help.h"
#include "cli/interruption.h"
#include "cli/prove_hosts.h"
#include "cli/report_files.h"
#include "cli/stand_ins.h"
#include "cli/subcommands.h"
#include "cli/this_host.h"
#include "proof/json_report.h"
#include "proof/process.h"
#include "proof/report_page.h"
#include "proof/text_report.h"
#include "version/version.h"

namespace gdr::cli {
namespace {

struct ProveOptions {
  proof::Options proof;
  HostOptions hosts;
  std::string gpu, from_gpu, nic, peer_nic, sizes, modes, registration, memory;
  ReportFiles report{{".json", ".html", ".md"}};
  bool json = false;
  bool no_measure = false;
  bool verbose = false;
};

void read_modes(const std::string& text, proof::Options& options) {
  if (text.empty()) return;
  std::vector<const proof::Mode*> chosen;
  for (std::string_view name : split(text, ',')) {
    const proof::Mode* mode = proof::find_mode(name);
    if (!mode) {
      throw CLI::ValidationError(
          fmt::format("unknown mode '{}'; allowed: {}", name, proof::mode_names()));
    }
    chosen.push_back(mode);
  }
  // In the order in which modes are proved, each once.
  std::erase_if(options.modes, [&](const proof::Mode* mode) {
    return std::find(chosen.begin(), chosen.end(), mode) == chosen.end();
  });
}

void read_registration(const std::string& text, proof::Options& options) {
  if (text.empty()) return;
  if (text == "dma-buf") {
    options.registration = proof::Registration::kDmaBuf;
  } else if (text == "peer-memory") {
    options.registration = proof::Registration::kPeerMemory;
  } else {
    throw CLI::ValidationError(
        fmt::format("unknown registration '{}'; allowed: dma-buf, peer-memory", text));
  }
}

void read_memory(const std::string& text, proof::Options& options) {
  if (text.empty()) return;
  if (text == "alloc") {
    options.device_memory = {proof::MemoryKind::kDevice};
  } else if (text == "vmm") {
    options.device_memory = {proof::MemoryKind::kDeviceVmm};
  } else if (text == "host") {
    options.device_memory = {};
  } else {
    throw CLI::ValidationError(fmt::format("unknown memory '{}'; allowed: alloc, vmm, host", text));
  }
}

// Every value is judged here, so that wrong use costs nothing but its one line.
void read_values(ProveOptions& options) {
  proof::Options& proof = options.proof;
  if (proof.soft && proof.require_hardware) {
    throw CLI::ValidationError("--soft and --require-hardware exclude each other");
  }
  for (const auto& [option, value] :
       {std::pair("--gpu", options.gpu), std::pair("--from-gpu", options.from_gpu),
        std::pair("--registration", options.registration)}) {
    if (options.memory == "host" && !value.empty()) {
      throw CLI::ValidationError(
          fmt::format("{} and --memory host exclude each other: no GPU takes part", option));
    }
  }
  proof.gpu = given(options.gpu);
  proof.from_gpu = given(options.from_gpu);
  proof.nic = given(options.nic);
  proof.peer_nic = given(options.peer_nic);
  proof.measure = !options.no_measure;
  if (!options.sizes.empty()) {
    Result<std::vector<std::uint64_t>> sizes = proof::parse_sizes(options.sizes);
    if (!sizes) throw CLI::ValidationError(sizes.error().message);
    proof.sizes = *std::move(sizes);
  }
  read_modes(options.modes, proof);
  read_registration(options.registration, proof);
  read_memory(options.memory, proof);
  read_host_values(options.hosts, proof);
  if (!options.hosts.meeting.server) return;
  for (const auto& [option, given] :
       {std::pair("--json", options.json), std::pair("--report", !options.report.empty()),
        std::pair("--verbose", options.verbose), std::pair("--no-measure", options.no_measure),
        std::pair("--sizes", !options.sizes.empty()), std::pair("--modes", !options.modes.empty()),
        std::pair("--memory", !options.memory.empty()),
        std::pair("--registration", !options.registration.empty())}) {
    if (!given) continue;
    refuse_together("--server", option, "give it to the client");
  }
}

Result<void> write_reports(const ReportFiles& files, const proof::Report& report) {
  return files.write([&](std::string_view ending) {
    if (ending == ".json") return proof::to_json(report, provenance());
    return ending == ".md" ? proof::to_markdown(report) : proof::to_html(report);
  });
}

int run_prove(ProveOptions& options) {
  // Found out before the proof, which takes seconds.
  if (const Result<void> writable = options.report.check(); !writable) {
    say("gdr prove: " + writable.error().message);
    return 2;
  }
  options.proof.facts = {name_of_this_host(), time_now(), program_version(), {}, {}};
  if (options.hosts.meeting.server) return serve_proofs(options.hosts, options.proof);
  options.proof.interrupted = &watch_interruption();
  using Detail = proof::TextReport::Detail;
  proof::TextReport text(stdout, text::Style::of(stdout),
                         options.verbose ? Detail::kFull : Detail::kBrief);
  proof::Listener silent;
  Result<proof::Report> report =
      proof::prove(options.proof, options.json ? silent : static_cast<proof::Listener&>(text));
  if (!report) {
    say("gdr prove: " + printable(report.error().message));  // which may be the other side's
    return report.error().code == EINVAL ? 2 : 1;
  }
  if (options.json) {
    std::fputs(proof::to_json(*report, provenance()).c_str(), stdout);
  } else {
    text.finish(*report);
  }
  if (const Result<void> written = write_reports(options.report, *report); !written) {
    say("gdr prove: " + written.error().message);
    return 1;
  }
  return report->verdict.exit_status();
}

// A stand-in that is missing is the proof's to report; a wrong variable is wrong use.
int check_and_prove(ProveOptions& options) {
  const Result<std::string> folder = stand_in_folder();
  for (auto check : {check_soft_nic, check_soft_gpu}) {
    const Result<void> usable = folder ? check(*folder) : Result<void>();
    if (!usable && usable.error().code == EINVAL) {
      say(fmt::format("gdr prove: {}", usable.error().message));
      return 2;
    }
  }
  return run_prove(options);
}

// `gdr prove` starts itself as this, once for each side.
void add_worker(CLI::App& program, Action& chosen) {
  CLI::App* worker = program.add_subcommand("prove-worker", "Started by gdr prove");
  worker->group("");
  worker->callback([&chosen] { chosen = [] { return proof::worker_main(); }; });
}

}  // namespace

void add_prove(CLI::App& program, Action& chosen) {
  auto options = std::make_shared<ProveOptions>();
  CLI::App* prove = program.add_subcommand(
      "prove",
      "Prove GPUDirect RDMA on this machine or between two hosts, byte by byte\n"
      "In a prolog or a readiness gate: gdr prove --require-hardware\n"
      "Exit status: 0 PROVED, or SIMULATION PASSED on a machine without hardware;\n"
      "1 FAILED; 2 wrong use; 3 proved in part, or a missing part was simulated.");
  const auto add = [&](const char* name, std::string& value, const char* type,
                       const std::string& help) {
    prove->add_option(name, value, help)->type_name(type);
  };
  begin_group(*prove, "Common");
  prove->add_flag("--require-hardware", options->proof.require_hardware,
                  "Fail instead of using a stand-in; for scripts that act on the exit status");
  prove->add_flag("--soft", options->proof.soft,
                  "Use the stand-ins (software NIC and GPU) even if there is hardware (default: "
                  "only for what is missing)");
  prove->add_flag("--all", options->proof.all,
                  "Prove every GPU with every NIC port, then each pair of GPUs (default: one GPU "
                  "and two ports)");
  prove->add_flag("--no-measure", options->no_measure, "Skip bandwidth and latency");
  prove->add_flag("-v,--verbose", options->verbose,
                  "Every device, registration and direction has a line of its own");
  prove->add_flag("--json", options->json, "Print one JSON document instead of text");
  options->report.add_to(*prove,
                         ".json; for a ticket .html, a page, or .md, to paste, without addresses");
  begin_group(*prove, "Devices");
  add("--gpu", options->gpu, "GPU",
      "GPU whose memory is checked: ordinal, PCI address or UUID (default: the first)");
  add("--from-gpu", options->from_gpu, "GPU",
      "GPU of the process that starts the transfers; proves the path from one GPU to another "
      "(default: the same GPU)");
  add("--nic", options->nic, "NIC",
      "NIC that starts the transfers: NAME, NAME:PORT, netdev or PCI address (default: another "
      "port than --peer-nic)");
  add("--peer-nic", options->peer_nic, "NIC",
      "NIC that reaches the checked GPU memory (default: the one nearest to the GPU)");
  begin_group(*prove, "Transfers");
  add("--sizes", options->sizes, "LIST",
      "Bytes of each transfer, up to 1G, such as 1,64K,1M-1,1M+13 (default: 19 sizes from 1 to "
      "64M, or as much as GPU memory holds)");
  add("--modes", options->modes, "LIST", proof::mode_names() + " (default: all)");
  add("--memory", options->memory, "KIND",
      "alloc: GPU memory of cuMemAlloc; vmm: of cuMemCreate; host: prove the NICs without a GPU "
      "(default: alloc and vmm)");
  add("--registration", options->registration, "WAY",
      "How GPU memory is registered: dma-buf or peer-memory (default: what works, dma-buf "
      "first)");
  add_host_options(*prove, options->hosts);
  refuse_empty_values(*prove);
  prove->callback([options, &chosen] {
    read_values(*options);
    chosen = [options] { return check_and_prove(*options); };
  });
  add_worker(program, chosen);
}

}  // namespace gdr::cli
