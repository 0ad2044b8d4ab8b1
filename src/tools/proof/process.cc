#include "proof/process.h"

#include "proof/worker.h"

namespace gdr::proof {

Result<WorkerProcess> start_worker(const std::string& name, const std::string& program,
                                   const std::vector<std::string>& arguments) {
  Result<process::Worker> worker = process::Worker::start(program, arguments);
  if (!worker) return worker.error();
  Client client(name, process::Connection(worker->take_socket()),
                [pid = worker->pid()] { return process::Worker::post_mortem(pid); });
  return WorkerProcess{*std::move(worker), std::move(client)};
}

int worker_main() {
  Result<UniqueFd> socket = process::Worker::own_socket();
  if (!socket) return 2;
  Talk talk(*std::move(socket));
  Worker worker;
  return serve(worker, talk);
}

}  // namespace gdr::proof
