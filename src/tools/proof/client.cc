#include "proof/client.h"

namespace gdr::proof {

// Remembers what ended the conversation: answers that come late would be taken for later ones.
Error Client::lost(const Error& cause) {
  std::string message = name_;
  if (cause.code == ETIMEDOUT) {
    message += " did not answer in time; a call into the RDMA or CUDA library hangs";
  } else if (cause.code == EBADMSG) {
    message += " sent a malformed answer";
  } else {
    const std::string reason = post_mortem_ ? post_mortem_() : std::string();
    message += " died" + (reason.empty() ? " (" + cause.message + ")" : ": " + reason);
  }
  broken_ = Error{cause.code, message};
  return *broken_;
}

}  // namespace gdr::proof
