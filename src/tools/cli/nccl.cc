// gdr nccl: tells whether NCCL uses GPUDirect RDMA.
#include "cli/command_line.h"
#include "cli/help.h"
#include "cli/nccl_commands.h"

namespace gdr::cli {

void add_nccl(CLI::App& program, Action& chosen, const std::vector<std::string>& command) {
  CLI::App* nccl =
      program.add_subcommand("nccl", "Tell whether NCCL uses GPUDirect RDMA, and why not");
  add_nccl_check(*nccl, chosen);
  add_nccl_run(*nccl, chosen, command);
  nccl->callback([nccl] {
    if (!nccl->get_subcommands().empty()) return;
    throw CLI::ValidationError("no subcommand given; allowed: " + allowed_subcommands(*nccl));
  });
}

}  // namespace gdr::cli
