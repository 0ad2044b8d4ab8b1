#include "perf/admission.h"

namespace gdr::perf {

Error too_early(const char* what) { return {EPROTO, std::string(what) + " came too early"}; }

// The reply says what this side is, whether they match or not: the client tells its user.
Result<Hello> Admission::handle(const Hello& request) {
  greeted_ = request.magic == self_.magic && request.protocol == self_.protocol;
  return Hello{self_.magic, self_.protocol, self_.version};
}

Result<Challenge::Reply> Admission::handle(const Challenge& request) {
  if (!greeted_ || challenged_) return too_early("challenge");
  challenged_ = true;
  done_ = !secret_.has_value();
  if (!secret_) return Challenge::Reply{};
  const process::Share own(secret_->key_for(self_.program));
  agreement_ = process::Agreement::make(own, request.point, process::Side::kServer, self_.program);
  return Challenge::Reply{own.point(), true};
}

Result<Authenticate::Reply> Admission::handle(const Authenticate& request) {
  if (!challenged_ || done_) return too_early("authenticate");
  if (!agreement_ ||
      !process::are_equal(request.proof, agreement_->proof(process::Side::kClient))) {
    agreement_.reset();
    refused_ = Error{EACCES, "the client has a different secret"};
    return Error{EACCES,
                 "client and server have different secrets; give both the same --secret file"};
  }
  done_ = true;
  return Authenticate::Reply{agreement_->proof(process::Side::kServer)};
}

void Admission::seal(process::Connection& talk) {
  if (!agreement_ || !done_) return;
  talk.seal(*agreement_, process::Side::kServer);
  agreement_.reset();
}

}  // namespace gdr::perf
