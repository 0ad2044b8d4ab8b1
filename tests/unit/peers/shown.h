// What a process has to show when it meets another, and the connection over which it does.
#pragma once

#include <gtest/gtest.h>
#include <sys/socket.h>

#include <memory>
#include <utility>

#include "peers/doorbell.h"
#include "peers/handshake.h"

namespace gdr::peers {

inline std::pair<UniqueFd, UniqueFd> sockets() {
  int ends[2];
  EXPECT_EQ(socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC | SOCK_NONBLOCK, 0, ends), 0);
  return {UniqueFd(ends[0]), UniqueFd(ends[1])};
}

// What a process has to show.
struct Shown {
  std::unique_ptr<rnic::Segment> segment;
  Doorbell doorbell = *Doorbell::make();
  Face face;

  explicit Shown(rnic::Token token) : segment(*rnic::Segment::create(token, {})) {
    face = {token, segment->descriptor(), doorbell.outer.get(), segment->secret()};
  }
};

}  // namespace gdr::peers
