#include "cli/prove_hosts.h"

#include <fmt/format.h>

#include "base/printable.h"
#include "cli/command_line.h"
#include "cli/help.h"
#include "cli/interruption.h"
#include "cli/perf_values.h"
#include "proof/hosts/server.h"

namespace gdr::cli {

void add_host_options(CLI::App& prove, HostOptions& options) {
  options.port = proof::kServerPort;
  prove
      .add_option("HOST", options.host,
                  "Host on which gdr prove --server runs: prove the way from this host's NIC and "
                  "GPU to those of that host (default: both sides are here)")
      ->type_name("");
  begin_group(prove, "Between two hosts");
  prove.add_flag("--server", options.server,
                 "Be the other side of gdr prove HOST, until Ctrl-C; --nic and --gpu name this "
                 "host's devices");
  prove.add_option("--port", options.port, "TCP port of the server (default: 18601)")
      ->type_name("PORT")
      ->check(CLI::Range(1, 65535));
  prove
      .add_option("--secret", options.secret,
                  "File with the same text on both hosts, readable by you alone; without it the "
                  "server serves whoever reaches its port")
      ->type_name("FILE");
  prove
      .add_option("--listen", options.listen,
                  "Address on which the server listens; any: all addresses (default: this host "
                  "only)")
      ->type_name("ADDRESS");
  prove
      .add_option("--session-limit", options.session_limit,
                  "Most time that the server gives one client, such as 90s or 2h (default: 1h)")
      ->type_name("TIME");
}

namespace {

void exclude(bool one, const char* name, const char* other, const char* instead) {
  if (!one) return;
  throw CLI::ValidationError(fmt::format("{} and {} exclude each other: {}", name, other, instead));
}

void needs(const std::string& value, bool there, const char* option, const char* what) {
  if (value.empty() || there) return;
  throw CLI::ValidationError(fmt::format("{} is for {}", option, what));
}

}  // namespace

void read_host_values(const HostOptions& options, proof::Options& proof) {
  const bool two_hosts = options.server || !options.host.empty();
  const char* const what = options.server ? "--server" : "a host";
  exclude(options.server && !options.host.empty(), "--server", "a host",
          "the server waits; the client names the server's host");
  if (two_hosts) {
    exclude(proof.all, "--all", what, "one port and one GPU of each host take part");
    exclude(proof.from_gpu.has_value(), "--from-gpu", what, "each host names its own with --gpu");
    exclude(proof.peer_nic.has_value(), "--peer-nic", what,
            "the server chooses its own: gdr prove --server --nic NIC");
  }
  const bool changes_port = options.port != proof::kServerPort;
  if (changes_port && !two_hosts) {
    throw CLI::ValidationError("--port is for gdr prove --server and gdr prove HOST");
  }
  needs(options.listen, options.server, "--listen", "gdr prove --server");
  needs(options.session_limit, options.server, "--session-limit", "gdr prove --server");
  needs(options.secret, two_hosts, "--secret", "gdr prove --server and gdr prove HOST");
  proof.server.host = options.host;
  proof.server.port = static_cast<std::uint16_t>(options.port);
  proof.server.secret_file = options.secret;
  if (!options.session_limit.empty()) {
    (void)read_nanoseconds("--session-limit", options.session_limit);
  }
}

int serve_proofs(const HostOptions& options, const proof::Options& proof) {
  proof::ServerOptions server;
  server.proof = proof;
  server.listen_address = options.listen;
  server.port = static_cast<std::uint16_t>(options.port);
  server.secret_file = given(options.secret);
  if (!options.session_limit.empty()) {
    server.session_limit = read_nanoseconds("--session-limit", options.session_limit);
  }
  const Result<void> ended = proof::serve(
      server,
      [](const std::string& line) {
        fmt::print("{}\n", printable(line));
        std::fflush(stdout);
      },
      watch_interruption());
  if (ended) return 0;
  say("gdr prove: " + printable(ended.error().message));
  return ended.error().code == EINVAL ? 2 : 1;
}

}  // namespace gdr::cli
