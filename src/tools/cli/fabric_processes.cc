// What gdr fabric starts itself: a member on each host, and the process that holds a member's
// rails.
#include "cli/fabric_commands.h"
#include "fabric/worker/serve.h"

namespace gdr::cli {

void add_fabric_member(CLI::App& program, Action& chosen);

void add_fabric_processes(CLI::App& program, Action& chosen) {
  add_fabric_member(program, chosen);
  CLI::App* worker = program.add_subcommand("fabric-worker", "Started by gdr fabric")->group("");
  worker->callback([&chosen] { chosen = [] { return fabric::fabric_worker_main(); }; });
}

}  // namespace gdr::cli
