// A worker of a proof, in a process of its own.
//
//   Result<WorkerProcess> side = start_worker("the sending process", "/proc/self/exe",
//                                             {"prove-worker"});
//   side->client.call(...);
#pragma once

#include <string>
#include <vector>

#include "process/worker.h"
#include "proof/client.h"

namespace gdr::proof {

struct WorkerProcess {
  process::Worker worker;
  Client client;  // goes first, which asks the worker to end
};

// `name`: what errors call it.
Result<WorkerProcess> start_worker(const std::string& name, const std::string& program,
                                   const std::vector<std::string>& arguments);

// What the started process does: serves its parent. Returns its exit status.
int worker_main();

}  // namespace gdr::proof
