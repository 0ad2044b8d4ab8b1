// The proof between two hosts, on the command line: gdr prove HOST, and gdr prove --server there.
//
//   add_host_options(*prove, options->hosts);
//   read_host_values(options->hosts, options->proof);          // wrong use: an exception
//   if (options->hosts.meeting.server) return serve_proofs(options->hosts, options->proof);
#pragma once

#include <CLI/CLI.hpp>
#include <string>

#include "cli/server_options.h"
#include "proof/options.h"

namespace gdr::cli {

struct HostOptions {
  std::string host;
  ServerOptions meeting;
};

void add_host_options(CLI::App& prove, HostOptions& options);

// Judges what excludes what, too: the proof's other values have been read before.
void read_host_values(HostOptions& options, proof::Options& proof);

// Until it is interrupted. The exit status.
int serve_proofs(const HostOptions& options, const proof::Options& proof);

}  // namespace gdr::cli
