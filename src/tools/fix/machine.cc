#include "fix/machine.h"

#include <unistd.h>

#include "fix/run_program.h"

namespace gdr::fix {
namespace {

Machine machine_at(const std::string& root) {
  Machine machine{host::Files(root), {}, false, {}, ::pwrite};
  machine.boot = machine.files.line("proc/sys/kernel/random/boot_id");
  return machine;
}

}  // namespace

Machine this_machine() {
  Machine machine = machine_at("/");
  machine.superuser = geteuid() == 0;
  machine.run = [](const auto& command) { return run_program(command); };
  return machine;
}

Machine captured_machine(const std::string& root) {
  Machine machine = machine_at(root);
  // Plans as root: the captured machine counts, not who reads the capture.
  machine.superuser = true;
  return machine;
}

}  // namespace gdr::fix
