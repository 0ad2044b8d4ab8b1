#include "proof/client.h"

#include <algorithm>

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

Result<void> Client::send(std::uint8_t number, const Bytes& body) {
  if (broken_) return *broken_;
  Bytes message(body.size() + 1);
  message[0] = std::byte{number};
  std::copy(body.begin(), body.end(), message.begin() + 1);
  if (Result<void> sent = channel_.send(message); !sent) return lost(sent.error());
  return {};
}

Result<Bytes> Client::receive(Nanoseconds timeout) {
  if (broken_) return *broken_;
  Result<Bytes> message = channel_.receive(timeout);
  if (!message) return lost(message.error());
  if (message->empty() || std::to_integer<int>(message->front()) > 1) {
    return lost({EBADMSG, "malformed answer"});
  }
  const bool ok = message->front() == std::byte{1};
  message->erase(message->begin());
  if (ok) return message;

  Result<Failure> failure = decode<Failure>(*message);
  if (!failure) return lost({EBADMSG, "malformed answer"});
  return Error{failure->code, failure->text};
}

}  // namespace gdr::proof
