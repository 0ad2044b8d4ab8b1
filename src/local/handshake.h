// What two processes tell each other when they meet: who they are, and the descriptors of their
// segment and doorbell. Each side sends one message; both are checked before anything is mapped.
#pragma once

#include "base/result.h"
#include "base/unique_fd.h"
#include "rnic/shared.h"

namespace gdr::local {

struct Introduction {
  rnic::Token token = 0;
  UniqueFd segment;
  UniqueFd doorbell;  // an eventfd: wakes the service thread
};

Result<void> send_introduction(int connection, rnic::Token token, int segment, int doorbell);

enum class Wait { kNo, kSocketsTime };

// EPROTO for a message that is not one; EAGAIN when none came in time; ECONNRESET when the other
// side closed.
Result<Introduction> receive_introduction(int connection, Wait wait = Wait::kSocketsTime);

}  // namespace gdr::local
