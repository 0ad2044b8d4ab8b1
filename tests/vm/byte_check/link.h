// Link: the TCP connection over which the two sides of byte_check agree on each step.
//
//   Link link = server ? Link::to(server, port) : Link::await(port);
//   Ends theirs = link.swap(mine);
//   link.send_text("done");
//
// A peer that is gone or silent for half a minute ends the program.
#pragma once

#include <cstdint>
#include <string>

#include "endpoint.h"

namespace byte_check {

[[noreturn]] void die(const std::string& what);

class Link {
 public:
  static Link await(std::uint16_t port);
  static Link to(const char* server, std::uint16_t port);

  // Both sides call it: tells `mine`, returns the other side's.
  Ends swap(const Ends& mine);
  void meet();

  void send_text(const std::string& text);
  std::string receive_text();

 private:
  explicit Link(int fd);
  void send_all(const void* data, std::size_t bytes);
  void receive_all(void* data, std::size_t bytes);

  int fd_;
};

}  // namespace byte_check
