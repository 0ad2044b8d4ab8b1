#include "proof/hosts/visit.h"

#include "perf/dial.h"

namespace gdr::proof {

Result<Visit> Visit::pay(const ServerOfProof& server, const std::string& version,
                         const std::optional<perf::Secret>& secret,
                         const std::atomic<bool>* interrupted) {
  Result<UniqueFd> fd = perf::dial(server.host, server.port, "gdr prove --server");
  if (!fd) return fd.error();
  Visit visit(*std::move(fd));
  if (interrupted != nullptr) visit.talk_.watch(*interrupted);
  Result<void> met = perf::greet(visit.talk_, {kMagic, kProtocol, version, "gdr prove"}, secret);
  if (!met) return met.error();
  return visit;
}

Result<Client> Visit::begin_proof(const std::string& host, std::uint64_t& ticket) && {
  Result<BeginProof::Reply> begun = talk_.call(BeginProof{}, kLongTimeout);
  if (!begun) return begun.error();
  ticket = begun->ticket;
  return Client("the process on " + host, std::move(talk_));
}

Result<process::Connection> Visit::begin_rows(std::uint64_t ticket) && {
  Result<Nothing> begun = talk_.call(BeginRows{ticket}, kLongTimeout);
  if (!begun) return begun.error();
  return process::Connection(std::move(talk_));
}

}  // namespace gdr::proof
