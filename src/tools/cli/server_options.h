// The options by which a client and a server of gdrkit find each other: the same in gdr perf and in
// gdr prove.
//
//   add_server_options(*perf, options->meeting, perf::kPort);
//   read_server_options(options.meeting, has_host, "gdr perf");   // wrong use: an exception
//   if (options.meeting.server) return serve(..., print_server_line, watch_interruption());
#pragma once

#include <CLI/CLI.hpp>
#include <cstdint>
#include <string>

namespace gdr::cli {

struct ServerOptions {
  bool server = false;
  std::uint32_t port = 0;
  std::string secret, listen, session_limit;
  // 0: not given.
  std::uint64_t session_limit_nanoseconds = 0;
};

// --port, --secret, --listen and --session-limit; --server is the caller's, whose help differs.
void add_server_options(CLI::App& command, ServerOptions& options, std::uint16_t usual_port);

// `name`: the command's, for errors. `has_host`: it was given the host of a server.
void read_server_options(ServerOptions& options, bool has_host, const std::string& name);

// CLI::ValidationError: "ONE and OTHER exclude each other: INSTEAD".
[[noreturn]] void refuse_together(const std::string& one, const std::string& other,
                                  const std::string& instead);

// A line of a server's, which may have a client's words in it.
void print_server_line(const std::string& line);

}  // namespace gdr::cli
