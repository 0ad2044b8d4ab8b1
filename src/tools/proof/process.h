// The two workers of a proof, each in a process of its own: the one that sends first.
//
//   Result<std::array<WorkerProcess, 2>> sides = start_workers("/proc/self/exe", {"prove-worker"});
//   (*sides)[0].client.call(...);
#pragma once

#include <array>
#include <string>
#include <vector>

#include "process/worker.h"
#include "proof/client.h"

namespace gdr::proof {

struct WorkerProcess {
  process::Worker worker;
  Client client;  // goes first, which asks the worker to end
};

Result<std::array<WorkerProcess, 2>> start_workers(const std::string& program,
                                                   const std::vector<std::string>& arguments);

// What the started process does: serves its parent. Returns its exit status.
int worker_main();

}  // namespace gdr::proof
