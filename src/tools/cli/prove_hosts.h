// The proof between two hosts, on the command line: gdr prove HOST, and gdr prove --server there.
//
//   add_host_options(*prove, options->hosts);
//   read_host_values(options->hosts, options->proof);          // wrong use: an exception
//   if (options->hosts.server) return serve_proofs(options->hosts, options->proof);
#pragma once

#include <CLI/CLI.hpp>
#include <string>

#include "proof/options.h"

namespace gdr::cli {

struct HostOptions {
  std::string host;
  bool server = false;
  int port = 0;
  std::string secret, listen, session_limit;
};

void add_host_options(CLI::App& prove, HostOptions& options);

// What excludes what, too: the proof's other values have been read before.
void read_host_values(const HostOptions& options, proof::Options& proof);

// Until it is interrupted. The exit status.
int serve_proofs(const HostOptions& options, const proof::Options& proof);

}  // namespace gdr::cli
