#include "perf/greeting.h"

namespace gdr::perf {

Result<void> check_hello(const Introduction& self, const Result<Hello>& answer) {
  if (!answer && answer.error().code == ETIMEDOUT) {
    return Error{ETIMEDOUT,
                 "the server accepted the connection but is silent: it is busy with another "
                 "client, or it is not " +
                     self.program};
  }
  if (!answer) return answer.error();
  if (answer->magic != self.magic) {
    return Error{EPROTO, "the server answered, but it is not " + self.program};
  }
  if (answer->protocol == self.protocol) return {};
  return Error{EPROTO, "the server is gdrkit " + answer->version + " (protocol " +
                           std::to_string(answer->protocol) + "), this is " + self.version +
                           " (protocol " + std::to_string(self.protocol) +
                           "): install the same version on both hosts"};
}

Result<void> check_challenge(bool wants_secret, bool has_secret) {
  if (wants_secret == has_secret) return {};
  if (wants_secret) {
    return Error{EACCES, "the server asks for a secret; give --secret FILE with the server's text"};
  }
  return Error{EACCES,
               "the server has no secret, so it may be anybody's; start it with --secret FILE, or "
               "leave out --secret here"};
}

Result<void> check_proof(const Result<Authenticate::Reply>& answer,
                         const process::Agreement& agreement) {
  if (!answer) return answer.error();
  if (process::are_equal(answer->proof, agreement.proof(process::Side::kServer))) return {};
  return Error{EACCES, "the server does not know the secret, so it may be an impostor"};
}

Result<process::Agreement> agree_with(const Challenge::Reply& server, const process::Share& own,
                                      const Introduction& self) {
  std::optional<process::Agreement> agreement =
      process::Agreement::make(own, server.point, process::Side::kClient, self.program);
  if (!agreement) return Error{EPROTO, "the server is not " + self.program};
  return *agreement;
}

}  // namespace gdr::perf
