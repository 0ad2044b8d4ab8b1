#include "proof/hosts/far_worker.h"

#include "proof/device_addresses.h"
#include "proof/packets.h"

namespace gdr::proof {

Result<FarWorker> FarWorker::start(const Options& options, const Machine& machine,
                                   const Selection& chosen) {
  Result<WorkerProcess> process = start_worker("the process on " + machine.facts.host,
                                               options.program, options.worker_arguments);
  if (!process) return process.error();
  return FarWorker(*std::move(process), options, machine, chosen);
}

Result<Open::Reply> FarWorker::handle(const Open&) {
  const participants::Libraries& libraries = machine_->libraries;
  Result<Open::Reply> opened = process_.client.call(
      Open{libraries.verbs, libraries.cuda, chosen_->far.nic, chosen_->far.port, chosen_->far_gpu},
      kLongTimeout);
  if (is_lost()) return judged(std::move(opened));
  if (!opened)
    return Error{opened.error().code, chosen_->far.text() + ": " + opened.error().message};
  take_mac(machine_->inventory, chosen_->far, *opened);
  grants_.emplace(*opened);
  return opened;
}

Result<CountPackets::Reply> FarWorker::handle(const CountPackets&) {
  if (machine_->inventory.soft_nic) return CountPackets::Reply{};
  return count_packets(options_->root, chosen_->far.nic, chosen_->far.port);
}

template <typename Request>
requires kIsForGuests<Request> Result<typename Request::Reply> FarWorker::handle(
    const Request& request) {
  if (!grants_) return Error{EPROTO, "nothing is open"};
  if (Result<void> may = grants_->permit(request); !may) return may.error();
  Result<typename Request::Reply> reply = process_.client.call(request, kLongTimeout);
  if (reply) grants_->note(request, *reply);
  return judged(std::move(reply));
}

Result<void> FarWorker::answer(Talk& talk, const process::Received& received) {
  ++requests_;
  return talk.answer(received, [this](const auto& request) -> decltype(this->handle(request)) {
    return this->handle(request);
  });
}

}  // namespace gdr::proof
