#include "fabric/worker/inbox.h"

namespace gdr::fabric::worker {

Inbox::Inbox(Talk& talk, Bell& bell) : talk_(talk), bell_(bell) {
  talk_.watch(ends_);
  thread_ = std::thread([this] { run(); });
}

Inbox::~Inbox() {
  ends_ = true;
  thread_.join();
}

void Inbox::run() {
  for (bool goes_on = true; goes_on;) {
    Result<process::Received> received = talk_.receive_any(process::kNoLimit);
    goes_on = static_cast<bool>(received);
    bell_.ring([&] { messages_.push_back(std::move(received)); });
  }
}

Result<process::Received> Inbox::take() {
  std::optional<Result<process::Received>> first;
  bell_.wait([&] {
    if (messages_.empty()) return false;
    first.emplace(std::move(messages_.front()));
    // The last one stays: there is nothing behind it.
    if (*first) messages_.pop_front();
    return true;
  });
  return *std::move(first);
}

}  // namespace gdr::fabric::worker
