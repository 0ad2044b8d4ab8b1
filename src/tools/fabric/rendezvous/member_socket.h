// The member's end of what MemberProcesses starts: a socket to the collector in place of standard
// input and output.
//
//   Result<UniqueFd> socket = take_member_socket();   // first of all, while there is one thread
//   Talk talk(*std::move(socket));
#pragma once

#include <string_view>

#include "base/result.h"
#include "base/unique_fd.h"

namespace gdr::fabric {

// A member's first line, before any message.
constexpr std::string_view kMemberGreeting = "gdr fabric member 1\n";

// Greets. What this process prints goes to its standard error from here on. Where standard input
// and output are pipes, as sshd makes them, a copy of this process carries bytes between them and
// the socket; it kills this process if it goes on for five seconds after the collector's end.
Result<UniqueFd> take_member_socket();

}  // namespace gdr::fabric
