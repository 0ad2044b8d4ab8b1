// The program of `gdr run`, with `gdr run` waiting beside it for the line at its end. Everything
// that a shell, mpirun or Slurm does to gdr run reaches the program, and the other way round:
//
// - signals that are sent to gdr run are sent on; those of a terminal, and those sent to a process
//   group or to all processes of a job step, reach both by themselves (run_sentinel.h);
// - a program that stops (Ctrl-Z) stops gdr run, and goes on with it;
// - a gdr run that is killed takes the program along;
// - gdr run ends as the program did: with its status, or by the same signal.
//
//   Supervision run([&] { return replace_process(plan, path, command); });
//   Result<int> status = run.wait([&](pid_t program) { processes.look(); });
//   fputs(line, stderr);
//   end_as(*status);
#pragma once

#include <sys/types.h>

#include <functional>

#include "base/result.h"

namespace gdr::cli {

// Starts a child in which `become` turns into the program, and waits for that: the status that
// waitpid() gives. The error is what `become` returned. `on_tick` is called now and then meanwhile.
Result<int> supervise(const std::function<Error()>& become,
                      const std::function<void(pid_t)>& on_tick);

// Ends this process as a status of waitpid() says that another one did.
[[noreturn]] void end_as(int status);

}  // namespace gdr::cli
