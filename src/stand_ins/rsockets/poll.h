// rpoll() and rselect(): rsockets and ordinary descriptors waited for at once.
//
// They return what poll() and select() do, or a negated errno value.
#pragma once

#include <poll.h>
#include <sys/select.h>

#include <chrono>
#include <optional>
#include <span>

namespace gdr::rsockets {

// No timeout: for ever.
int poll_descriptors(std::span<pollfd> wanted,
                     std::optional<std::chrono::steady_clock::duration> timeout);
int select_descriptors(int count, fd_set* read, fd_set* write, fd_set* except, timeval* timeout);

}  // namespace gdr::rsockets
