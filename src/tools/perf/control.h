// Control: the connection between client and server of `gdr perf`, over which the client says what
// to do.
//
//   Result<Control> control = Control::connect("node7", 18600);
//   Result<SetUp::Reply> reply = control->call(SetUp{load, largest}, 30 * kSecond);
#pragma once

#include <string>

#include "perf/messages.h"
#include "process/conversation.h"

namespace gdr::perf {

using process::kLargestMessage;
using process::Received;

class Control : public process::Conversation<Messages> {
 public:
  explicit Control(UniqueFd fd)
      : Conversation(std::move(fd), "the other side answered, but it is not gdr perf") {}
  explicit Control(process::Connection&& connection) : Conversation(std::move(connection)) {}
  static Result<Control> connect(const std::string& host, std::uint16_t port);
};

}  // namespace gdr::perf
