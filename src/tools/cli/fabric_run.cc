// gdr fabric: finds the processes of the run, and collects or takes part.
#include <fmt/format.h>
#include <unistd.h>

#include <cstdio>
#include <filesystem>
#include <memory>

#include "base/environment.h"
#include "base/output_file.h"
#include "base/printable.h"
#include "cli/fabric_commands.h"
#include "cli/help.h"
#include "cli/interruption.h"
#include "cli/this_host.h"
#include "fabric/member/member.h"
#include "fabric/output/json_lines.h"
#include "fabric/output/json_report.h"
#include "fabric/output/live.h"
#include "fabric/output/page.h"
#include "fabric/output/prometheus.h"
#include "fabric/output/text_report.h"
#include "fabric/rendezvous/member_processes.h"
#include "fabric/rendezvous/member_socket.h"
#include "fabric/rendezvous/reach.h"
#include "fabric/rendezvous/rendezvous.h"
#include "fabric/rendezvous/ssh_hosts.h"
#include "fabric/worker/serve.h"
#include "perf/secret.h"
#include "version/version.h"

namespace gdr::cli {
namespace {

constexpr const char* kMemberCommand = "fabric-member";

int failed(const Error& error) {
  say("gdr fabric: " + printable(error.message));  // which may be another host's
  return error.code == EINVAL || error.code == ENOTSUP ? kWrongUse : kFailed;
}

Result<std::optional<perf::Secret>> secret_of(const std::string& file) {
  Result<std::optional<perf::Secret>> secret =
      perf::Secret::read_given(file.empty() ? std::nullopt : std::optional(file));
  if (!secret) return Error{EINVAL, secret.error().message};
  return secret;
}

// This program's file, also where its folder is not in PATH.
std::string own_path() {
  std::error_code error;
  const std::filesystem::path path = std::filesystem::read_symlink("/proc/self/exe", error);
  return error ? "gdr" : path.string();
}

// Shows a run on the terminal and keeps its lines, while it goes on.
class Shown {
 public:
  static Result<std::unique_ptr<Shown>> make(const FabricOptions& options) {
    std::unique_ptr<Shown> shown(new Shown());
    if (!options.lines.empty()) {
      Result<UniqueFd> file = open_output(options.lines, Existing::kReplace);
      if (!file) return Error{EINVAL, "--lines " + file.error().message};
      shown->file_.reset(fdopen(file->release(), "w"));
      if (!shown->file_) return from_errno("--lines " + options.lines);
      shown->lines_.emplace(shown->file_.get(), provenance());
    }
    std::vector<fabric::Listener*> all{&shown->live_};
    if (shown->lines_) all.push_back(&*shown->lines_);
    shown->all_.emplace(std::move(all));
    return shown;
  }

  fabric::Listener& listener() { return *all_; }
  Result<void> end() {
    live_.clear();
    return lines_ && lines_->error() ? Result<void>(*lines_->error()) : Result<void>();
  }

 private:
  Shown() : file_(nullptr, fclose) {}

  std::unique_ptr<std::FILE, int (*)(std::FILE*)> file_;
  fabric::Live live_{stderr, text::Style::of(stderr)};
  std::optional<fabric::JsonLines> lines_;
  std::optional<fabric::Listeners> all_;
};

std::string in_form(std::string_view ending, const fabric::Report& report) {
  if (ending == ".html") return fabric::to_html(report);
  if (ending == ".prom") return fabric::to_prometheus(report);
  if (ending == ".txt") return fabric::to_text(report, text::Style{});
  return fabric::to_json(report, provenance());
}

// Runs, shows, writes. The exit status.
int collect(FabricOptions& options, fabric::Hub& hub, Shown& shown) {
  options.run.version = program_version();
  options.run.date = time_now();
  options.run.host = name_of_this_host();
  const Result<fabric::Report> report =
      fabric::run(options.run, hub, shown.listener(), watch_interruption());
  const Result<void> kept = shown.end();
  if (!report) return failed(report.error());
  // First, because a pager that is left ends this program while it prints.
  const Result<void> written =
      options.report.write([&](std::string_view ending) { return in_form(ending, *report); });
  const std::string text = options.json ? fabric::to_json(*report, provenance())
                                        : fabric::to_text(*report, text::Style::of(stdout));
  std::fputs(text.c_str(), stdout);
  if (!written) return failed({EIO, written.error().message});
  if (!kept) return failed({EIO, "--lines: " + kept.error().message});
  return fabric::exit_status(*report);
}

Result<std::unique_ptr<Shown>> prepare_outputs(const FabricOptions& options) {
  if (Result<void> writable = options.report.check(); !writable) {
    return Error{EINVAL, writable.error().message};
  }
  return Shown::make(options);
}

// Members that this process starts: all of a run with --hosts or --local, its own one with a
// launcher.
class Started {
 public:
  explicit Started(std::vector<fabric::MemberCommand> commands, Nanoseconds patience)
      : processes_(std::move(commands), {.at_once = 64, .patience = patience}) {}

  void take_arrivals(fabric::Hub& hub, fabric::Collector& collector) {
    while (!all_came_) {
      Result<fabric::Arrival> arrival = processes_.next(0);
      if (!arrival) {
        all_came_ = arrival.error().code == ENODATA;
        return;
      }
      Result<void> added = arrival->socket ? hub.add(arrival->rank, std::move(arrival->socket))
                                           : Error{ECONNREFUSED, arrival->problem};
      if (added) continue;
      collector.handle_refusal(arrival->rank, fabric::HostState::kNeverCame, added.error().message,
                               now());
    }
  }
  std::string end_of(fabric::MemberId member) { return processes_.end_of(member); }

 private:
  fabric::MemberProcesses processes_;
  bool all_came_ = false;
};

int collect_from_started(FabricOptions& options, std::vector<fabric::MemberCommand> commands,
                         const std::string& launcher) {
  Result<std::unique_ptr<Shown>> shown = prepare_outputs(options);
  if (!shown) return failed(shown.error());
  fabric::CollectorOptions& collector = options.run.collector;
  for (std::uint32_t i = 0; i < commands.size(); ++i) {
    collector.expected.push_back({commands[i].host, i});
  }
  options.run.launcher = launcher;
  Started started(std::move(commands), collector.join_limit);
  std::unique_ptr<fabric::Hub> hub;
  fabric::HubOptions hub_options;
  hub_options.version = program_version();
  hub_options.why_lost = [&](fabric::MemberId member) { return started.end_of(member); };
  hub_options.meanwhile = [&](fabric::Collector& running) { started.take_arrivals(*hub, running); };
  Result<std::unique_ptr<fabric::Hub>> made = fabric::Hub::make(std::move(hub_options));
  if (!made) return failed(made.error());
  hub = *std::move(made);
  return collect(options, *hub, **shown);
}

// Rank 0 of a launcher's job.
int collect_from_job(FabricOptions& options, fabric::Rendezvous& rendezvous) {
  Result<std::unique_ptr<Shown>> shown = prepare_outputs(options);
  if (!shown) return failed(shown.error());
  const fabric::Job& job = rendezvous.job();
  fabric::CollectorOptions& collector = options.run.collector;
  for (const fabric::Expected& one : job.expected) {
    collector.expected.push_back({one.host, one.node});
  }
  options.run.launcher = job.launcher;
  Started own(fabric::on_this_host(1, "/proc/self/exe", {kMemberCommand}), collector.join_limit);
  std::unique_ptr<fabric::Hub> hub;
  fabric::HubOptions hub_options;
  hub_options.version = program_version();
  hub_options.own_members = 1;
  hub_options.why_lost = [&](fabric::MemberId member) { return member == 0 ? own.end_of(0) : ""; };
  hub_options.meanwhile = [&](fabric::Collector& running) {
    own.take_arrivals(*hub, running);
    if (!running.is_gathering()) rendezvous.finish();
  };
  Result<std::unique_ptr<fabric::Hub>> made = fabric::Hub::make(std::move(hub_options));
  if (!made) return failed(made.error());
  hub = *std::move(made);
  const Result<std::uint16_t> port = hub->listen(static_cast<std::uint16_t>(options.port));
  if (!port) return failed(port.error());
  const Result<fabric::Invitation> told =
      rendezvous.publish({fabric::own_addresses(), *port, fabric::random_token()});
  if (!told) return failed(told.error());
  hub->require_token(told->token);
  const int status = collect(options, *hub, **shown);
  rendezvous.finish();
  return status;
}

// A launcher passes Ctrl-C and SIGTERM on to every process of a run. A member that ended at once
// would stand in the report as one that died; the collector ends it. The second signal does so,
// too.
void leave_interruption_to_collector() { (void)watch_interruption(); }

// Any other rank. Its status is 0 once there is a collector, which names the host of a rank that
// fails: mpirun would end the whole job for another status of one rank.
int take_part(const FabricOptions& options, fabric::Rendezvous& rendezvous) {
  const Nanoseconds deadline = now() + options.run.collector.join_limit;
  const auto say_why = [&](const Error& error) {
    say(printable(fmt::format("gdr fabric: rank {} on {}: {}", rendezvous.job().rank,
                              name_of_this_host(), error.message)));
  };
  const Result<fabric::Invitation> invitation = rendezvous.await(options.run.collector.join_limit);
  rendezvous.finish();
  if (!invitation) {
    say_why(invitation.error());
    return kFailed;
  }
  Result<UniqueFd> socket = fabric::reach(*invitation, deadline);
  leave_interruption_to_collector();
  fabric::MemberOptions member;
  member.rank = rendezvous.job().rank;
  member.token = invitation->token;
  member.version = program_version();
  const Result<void> served =
      socket ? fabric::serve_collector(*std::move(socket), member) : Result<void>(socket.error());
  if (!served) say_why(served.error());
  return 0;
}

int run_under_launcher(FabricOptions& options) {
  const Result<std::optional<perf::Secret>> secret = secret_of(options.secret);
  if (!secret) return failed(secret.error());
  const Result<std::unique_ptr<fabric::Rendezvous>> found =
      fabric::find_rendezvous({environment, *secret});
  if (!found) return failed(found.error());
  if (*found == nullptr) {
    return failed({EINVAL,
                   "no launcher has started it; type 'srun -N16 gdr fabric', 'mpirun ... "
                   "gdr fabric', 'gdr fabric --hosts n[01-16]', or to try it on one host "
                   "'gdr fabric --local 4'"});
  }
  fabric::Rendezvous& rendezvous = **found;
  return rendezvous.job().rank == 0 ? collect_from_job(options, rendezvous)
                                    : take_part(options, rendezvous);
}

// `gdr fabric` starts this on each host of --hosts, and N times with --local.
int serve_as_member(std::uint32_t rank) {
  leave_interruption_to_collector();
  Result<UniqueFd> socket = fabric::take_member_socket();
  if (!socket) {
    say("gdr fabric-member: gdr fabric starts it, on the hosts of a run");
    return kWrongUse;
  }
  fabric::MemberOptions options;
  options.rank = rank;
  options.version = program_version();
  const Result<void> served = fabric::serve_collector(*std::move(socket), options);
  return served ? 0 : failed(served.error());
}

}  // namespace

int run_fabric(FabricOptions& options) {
  if (options.local != 0) {
    return collect_from_started(
        options, fabric::on_this_host(options.local, "/proc/self/exe", {kMemberCommand}),
        "processes of this host");
  }
  if (options.hosts.empty()) return run_under_launcher(options);
  const Result<std::vector<std::string>> hosts = fabric::read_hosts(options.hosts);
  if (!hosts) return failed({EINVAL, hosts.error().message});
  const std::string program = options.program.empty() ? own_path() : options.program;
  return collect_from_started(
      options, fabric::over_ssh(*hosts, options.ssh, program, {kMemberCommand}), options.ssh);
}

void add_fabric_processes(CLI::App& program, Action& chosen) {
  auto rank = std::make_shared<std::uint32_t>(0);
  CLI::App* member = program.add_subcommand(kMemberCommand, "Started by gdr fabric")->group("");
  member->add_option("--rank", *rank, "Its number in the run");
  member->callback([rank, &chosen] { chosen = [rank] { return serve_as_member(*rank); }; });
  CLI::App* worker = program.add_subcommand("fabric-worker", "Started by gdr fabric")->group("");
  worker->callback([&chosen] { chosen = [] { return fabric::fabric_worker_main(); }; });
}

}  // namespace gdr::cli
