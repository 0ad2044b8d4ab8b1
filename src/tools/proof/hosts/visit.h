// Visit: a connection to the server of `gdr prove` on another host, until the proof begins.
//
//   Result<Visit> visit = Visit::pay({"node2", kServerPort, {}, 0}, version, {});
//   Result<FarHost> far = visit->describe(Describe{});
//   Result<Client> side = std::move(*visit).begin_proof("node2", ticket);
#pragma once

#include <atomic>

#include "proof/client.h"
#include "proof/hosts/messages.h"

namespace gdr::proof {

class Visit {
 public:
  // Greets the server; both know the secret, if there is one.
  // Once `interrupted` is set, no wait goes on: EINTR.
  static Result<Visit> pay(const ServerOfProof& server, const std::string& version,
                           const std::optional<perf::Secret>& secret,
                           const std::atomic<bool>* interrupted = nullptr);

  Result<FarHost> describe(const Describe& request) { return talk_.call(request, kLongTimeout); }
  // B's worker there, and the ticket for begin_rows().
  Result<Client> begin_proof(const std::string& host, std::uint64_t& ticket) &&;
  // The server of `gdr perf` there.
  Result<process::Connection> begin_rows(std::uint64_t ticket) &&;

 private:
  explicit Visit(UniqueFd fd) : talk_(std::move(fd)) {}

  HostTalk talk_;
};

}  // namespace gdr::proof
