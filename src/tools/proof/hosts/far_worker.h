// FarWorker: the worker that is B of a client on another host, and what that client may ask of it.
//
//   Result<FarWorker> worker = FarWorker::start(options, machine, chosen);
//   Result<void> answered = worker->answer(talk, received);   // a request of the client
#pragma once

#include <optional>

#include "proof/hosts/grants.h"
#include "proof/machine.h"
#include "proof/process.h"

namespace gdr::proof {

class FarWorker {
 public:
  // The machine and the selection outlive it.
  static Result<FarWorker> start(const Options& options, const Machine& machine,
                                 const Selection& chosen);

  // EPROTO, EBADMSG: what was received is no request for a guest, or malformed.
  Result<void> answer(Talk& talk, const process::Received& received);
  // It answers no more. The client was told why.
  bool is_lost() const { return !process_.client.alive(); }
  std::uint64_t requests() const { return requests_; }

 private:
  FarWorker(WorkerProcess process, const Options& options, const Machine& machine,
            const Selection& chosen)
      : process_(std::move(process)), options_(&options), machine_(&machine), chosen_(&chosen) {}

  // The devices are the server's choice, whatever the client named.
  Result<Open::Reply> handle(const Open&);
  Result<CountPackets::Reply> handle(const CountPackets&);
  template <typename Request>
  requires kIsForGuests<Request> Result<typename Request::Reply> handle(const Request& request);

  // The client is told that no further request is answered.
  template <typename Reply>
  Result<Reply> judged(Result<Reply> reply) const {
    if (is_lost()) return Error{kWorkerLost, reply.error().message};
    return reply;
  }

  WorkerProcess process_;
  const Options* options_;
  const Machine* machine_;
  const Selection* chosen_;
  std::optional<Grants> grants_;  // once the devices are open
  std::uint64_t requests_ = 0;
};

}  // namespace gdr::proof
