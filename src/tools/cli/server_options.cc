#include "cli/server_options.h"

#include <fmt/format.h>

#include <cstdio>

#include "base/printable.h"
#include "cli/perf_values.h"

namespace gdr::cli {

void add_server_options(CLI::App& command, ServerOptions& options, std::uint16_t usual_port) {
  options.port = usual_port;
  command
      .add_option("--port", options.port,
                  fmt::format("TCP port of the server (default: {})", usual_port))
      ->type_name("PORT")
      ->check(CLI::Range(1, 65535));
  command
      .add_option("--secret", options.secret,
                  "File with the same text on both hosts, readable by you alone; without it the "
                  "server serves whoever reaches its port")
      ->type_name("FILE");
  command
      .add_option("--listen", options.listen,
                  "Address on which the server listens; any: all addresses (default: this host "
                  "only)")
      ->type_name("ADDRESS");
  command
      .add_option("--session-limit", options.session_limit,
                  "Most time that the server gives one client, such as 90s or 2h (default: 1h)")
      ->type_name("TIME");
}

void read_server_options(ServerOptions& options, bool has_host, const std::string& name) {
  const auto needs = [](const std::string& value, bool there, const char* option,
                        const std::string& what) {
    if (value.empty() || there) return;
    throw CLI::ValidationError(fmt::format("{} is for {}", option, what));
  };
  if (options.server && has_host) {
    refuse_together("--server", "a host", "the server waits; the client names the server's host");
  }
  needs(options.listen, options.server, "--listen", name + " --server");
  needs(options.session_limit, options.server, "--session-limit", name + " --server");
  needs(options.secret, options.server || has_host, "--secret",
        fmt::format("{0} --server and {0} HOST", name));
  if (!options.session_limit.empty()) {
    options.session_limit_nanoseconds = read_nanoseconds("--session-limit", options.session_limit);
  }
}

void refuse_together(const std::string& one, const std::string& other, const std::string& instead) {
  throw CLI::ValidationError(fmt::format("{} and {} exclude each other: {}", one, other, instead));
}

void print_server_line(const std::string& line) {
  fmt::print("{}\n", printable(line));
  std::fflush(stdout);
}

}  // namespace gdr::cli
