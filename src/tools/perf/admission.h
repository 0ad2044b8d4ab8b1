// Admission: the server's half of the greeting (perf/greeting.h). Until it is over, a client has
// nothing done and learns nothing but which program this is.
//
//   Admission admission({kMagic, kProtocol, version, "gdr perf"}, secret);
//   control.answer(received, [&](const auto& asked) -> ... { return admission.handle(asked); });
//   admission.seal(control);             // from the last answer on, if there is a secret
//   if (admission.is_done()) ...
#pragma once

#include "perf/greeting.h"
#include "process/conversation.h"

namespace gdr::perf {

class Admission {
 public:
  // The secret outlives this.
  Admission(Introduction self, const std::optional<Secret>& secret)
      : self_(std::move(self)), secret_(secret) {}

  Result<Hello> handle(const Hello& request);
  Result<Challenge::Reply> handle(const Challenge& request);
  Result<Authenticate::Reply> handle(const Authenticate& request);

  // To be called after each answer.
  void seal(process::Connection& talk);

  bool is_done() const { return done_; }
  // Why the client is not let in, once it has been told.
  const std::optional<Error>& refused() const { return refused_; }

 private:
  const Introduction self_;
  const std::optional<Secret>& secret_;
  bool greeted_ = false, challenged_ = false, done_ = false;
  std::optional<process::Agreement> agreement_;  // until all is sealed
  std::optional<Error> refused_;
};

Error too_early(const char* what);

}  // namespace gdr::perf
