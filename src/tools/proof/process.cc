#include "proof/process.h"

#include "proof/worker.h"

namespace gdr::proof {
namespace {

Result<WorkerProcess> start(const std::string& name, const std::string& program,
                            const std::vector<std::string>& arguments) {
  Result<process::Worker> worker = process::Worker::start(program, arguments);
  if (!worker) return worker.error();
  Client client(name, worker->take_socket(),
                [pid = worker->pid()] { return process::Worker::post_mortem(pid); });
  return WorkerProcess{*std::move(worker), std::move(client)};
}

}  // namespace

Result<std::array<WorkerProcess, 2>> start_workers(const std::string& program,
                                                   const std::vector<std::string>& arguments) {
  Result<WorkerProcess> sender = start("the sending process", program, arguments);
  if (!sender) return sender.error();
  Result<WorkerProcess> receiver = start("the receiving process", program, arguments);
  if (!receiver) return receiver.error();
  return std::array<WorkerProcess, 2>{*std::move(sender), *std::move(receiver)};
}

int worker_main() {
  Result<UniqueFd> socket = process::Worker::own_socket();
  if (!socket) return 2;
  Talk talk(*std::move(socket));
  Worker worker;
  return serve(worker, talk);
}

}  // namespace gdr::proof
