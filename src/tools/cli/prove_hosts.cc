#include "cli/prove_hosts.h"

#include "base/printable.h"
#include "cli/command_line.h"
#include "cli/help.h"
#include "cli/interruption.h"
#include "proof/hosts/server.h"

namespace gdr::cli {

void add_host_options(CLI::App& prove, HostOptions& options) {
  prove
      .add_option("HOST", options.host,
                  "Host on which gdr prove --server runs: prove the way from this host's NIC and "
                  "GPU to those of that host (default: both sides are here)")
      ->type_name("");
  begin_group(prove, "Between two hosts");
  prove.add_flag("--server", options.meeting.server,
                 "Be the other side of gdr prove HOST, until Ctrl-C; --nic and --gpu name this "
                 "host's devices");
  add_server_options(prove, options.meeting, proof::kServerPort);
}

void read_host_values(HostOptions& options, proof::Options& proof) {
  ServerOptions& meeting = options.meeting;
  read_server_options(meeting, !options.host.empty(), "gdr prove");
  const bool two_hosts = meeting.server || !options.host.empty();
  const char* const what = meeting.server ? "--server" : "a host";
  if (two_hosts && proof.all) {
    refuse_together("--all", what, "one port and one GPU of each host take part");
  }
  if (two_hosts && proof.from_gpu) {
    refuse_together("--from-gpu", what, "each host names its own with --gpu");
  }
  if (two_hosts && proof.peer_nic) {
    refuse_together("--peer-nic", what, "the server chooses its own: gdr prove --server --nic NIC");
  }
  if (meeting.port != proof::kServerPort && !two_hosts) {
    throw CLI::ValidationError("--port is for gdr prove --server and gdr prove HOST");
  }
  proof.server.host = options.host;
  proof.server.port = static_cast<std::uint16_t>(meeting.port);
  proof.server.secret_file = meeting.secret;
}

int serve_proofs(const HostOptions& options, const proof::Options& proof) {
  const ServerOptions& meeting = options.meeting;
  proof::ServerOptions server;
  server.proof = proof;
  server.listen_address = meeting.listen;
  server.port = static_cast<std::uint16_t>(meeting.port);
  server.secret_file = given(meeting.secret);
  if (!meeting.session_limit.empty()) server.session_limit = meeting.session_limit_nanoseconds;
  const Result<void> ended = proof::serve(server, print_server_line, watch_interruption());
  if (ended) return 0;
  say("gdr prove: " + printable(ended.error().message));
  return ended.error().code == EINVAL ? 2 : 1;
}

}  // namespace gdr::cli
