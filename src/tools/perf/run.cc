#include "perf/run.h"

#include <time.h>

#include "perf/choice.h"
#include "perf/client.h"
#include "perf/limits/gpu_copy.h"
#include "perf/limits/limits.h"
#include "perf/limits/memory_copy.h"
#include "perf/loopback.h"
#include "perf/output/figures.h"
#include "perf/session.h"

namespace gdr::perf {
namespace {

// For the client of this server to greet it.
constexpr Nanoseconds kGreeting = 5 * kSecond;

std::string date_now() {
  const time_t seconds = time(nullptr);
  tm parts{};
  gmtime_r(&seconds, &parts);
  char text[32];
  strftime(text, sizeof text, "%Y-%m-%dT%H:%M:%SZ", &parts);
  return text;
}

// Copies of the row's own size are timed here alone; on another host they may be faster.
void add_limits(Row& row, Facts near, Facts far, bool loopback) {
  constexpr Nanoseconds kTime = 20 * kMillisecond;
  if (!row.bandwidth) return;
  near.message_copy = measure_memory_copy(row.load.size, kTime);
  if (loopback) far.message_copy = near.message_copy;
  row.limits = limits_of(row.load, near, far, row.bandwidth->median);
}

// There for comparison, and so behind the limits.
void add_bare_copies(Row& row, GpuCopier& copier, const std::string& cuda) {
  if (!row.bandwidth || !has_bare_copies(row.load)) return;
  const Result<double> copies = copier.measure(cuda, row.load);
  if (!copies) {
    row.remarks.push_back("bare copies failed: " + copies.error().message);
    return;
  }
  const double share = row.bandwidth->median / *copies;
  row.limits.push_back({"bare copies by the CUDA driver", *copies, share, "", ""});
  row.remarks.push_back("bare copies by the CUDA driver: " + gigabytes(*copies) +
                        "; this row reaches " + share_text(share) + " that");
}

void name_ports(Row& row, const Side& near, const Side& far) {
  for (std::size_t i = 0; i < row.ports.size(); ++i) {
    row.ports[i].near_port = near.ports[i].text();
    row.ports[i].far_port = far.ports[i].text();
  }
}

}  // namespace

Result<Report> run(const Options& options, Listener& listener,
                   const std::atomic<bool>& interrupted) {
  const Nanoseconds begin = now();
  const bool loopback = options.host.empty();
  const Result<std::optional<Secret>> secret = Secret::read_given(options.secret_file);
  if (!secret) return secret.error();
  Result<Choice> choice = choose(options, loopback ? Role::kLoopback : Role::kClient);
  if (!choice) return choice.error();
  Result<std::vector<Group>> groups = make_plan(options.wishes, choice->available);
  if (!groups) return groups.error();
  Result<Ports> ports = open_ports(choice->names);
  if (!ports) return ports.error();

  std::optional<GpuCopier> copier;
  if (options.bare_copies) {
    Result<GpuCopier> started = GpuCopier::start(options.program);
    if (!started) return started.error();
    copier.emplace(*std::move(started));
  }
  std::optional<process::Worker> server;
  std::optional<Control> control;
  if (loopback) {
    Result<process::Worker> started = start_loopback_server(options, choice->far_names);
    if (!started) return started.error();
    server.emplace(*std::move(started));
    control.emplace(server->take_socket());
  } else {
    Result<Control> connected = Control::connect(options.host, options.port);
    if (!connected) return connected.error();
    control.emplace(*std::move(connected));
  }
  Client client(*control, *ports, options.version, options.processors, interrupted);
  if (Result<void> met = client.greet(*secret); !met) return met.error();

  Report report;
  report.date = date_now();
  report.command = options.command;
  report.loopback = loopback;
  const Description near = describe(*choice, *ports, options);
  report.near = near.side;
  report.far = client.far();
  report.clock = client.clock().report();
  Running running;
  for (const Group& group : *groups) running.rows += group.sizes.size();
  if (Result<void> begun = client.begin(*groups); !begun) return begun.error();
  listener.on_side(report);
  const Nanoseconds began = now();
  for (const Group& group : *groups) {
    const std::size_t first = report.rows.size();
    Result<void> done = client.run(
        group,
        [&](Row row) {
          name_ports(row, near.side, client.far());
          add_limits(row, near.facts, client.far_facts(), loopback);
          if (copier) add_bare_copies(row, *copier, choice->names.front().cuda);
          listener.on_row(row);
          report.rows.push_back(std::move(row));
        },
        [&](const Load& load) {
          running.row = report.rows.size();
          running.load = load;
          running.load.size = group.sizes[(running.row - first) % group.sizes.size()];
          const double each = running.row == 0 ? 0
                                               : static_cast<double>(now() - began) * 1e-9 /
                                                     static_cast<double>(running.row);
          running.seconds_left = each * static_cast<double>(running.rows - running.row);
          listener.on_running(running);
        });
    if (done) continue;
    if (done.error().code != EINTR) return done.error();
    report.interrupted = true;
    break;
  }
  report.clock = client.clock().report();
  report.seconds = static_cast<double>(now() - begin) * 1e-9;
  listener.on_end(report);
  return report;
}

int worker_main(const Options& options) {
  Result<UniqueFd> socket = process::Worker::own_socket();
  if (!socket) return 2;
  Control control(*std::move(socket));
  static const std::atomic<bool> never{false};
  Result<Choice> choice = choose(options, Role::kServer);
  Result<Ports> ports = choice ? open_ports(choice->names) : Result<Ports>(choice.error());
  if (!ports) {
    (void)control.receive_any(kGreeting);
    (void)control.send(Failure{ports.error().code, ports.error().message});
    return 1;
  }
  const Description told = describe(*choice, *ports, options);
  Terms terms;  // no limit: the client is this user's own, and ends it
  terms.processors = options.processors;
  Stage stage;
  return Session(control, *ports, told, never, terms, stage).serve() ? 0 : 1;
}

}  // namespace gdr::perf
