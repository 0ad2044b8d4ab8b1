#include "link.h"

#include <arpa/inet.h>
#include <errno.h>
#include <netinet/tcp.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/socket.h>
#include <unistd.h>

namespace byte_check {

void die(const std::string& what) {
  fflush(stdout);
  perror(("byte_check: " + what).c_str());
  exit(1);
}

Link::Link(int fd) : fd_(fd) {
  const timeval patience{30, 0};
  setsockopt(fd_, SOL_SOCKET, SO_RCVTIMEO, &patience, sizeof patience);
  const int yes = 1;
  setsockopt(fd_, IPPROTO_TCP, TCP_NODELAY, &yes, sizeof yes);
}

Link Link::await(std::uint16_t port) {
  const int listener = socket(AF_INET, SOCK_STREAM, 0);
  const int yes = 1;
  setsockopt(listener, SOL_SOCKET, SO_REUSEADDR, &yes, sizeof yes);
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_port = htons(port);
  if (bind(listener, reinterpret_cast<sockaddr*>(&address), sizeof address) || listen(listener, 1))
    die("bind");
  const int fd = accept(listener, nullptr, nullptr);
  if (fd < 0) die("accept");
  close(listener);
  return Link(fd);
}

Link Link::to(const char* server, std::uint16_t port) {
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_port = htons(port);
  if (inet_pton(AF_INET, server, &address.sin_addr) != 1) die("an IPv4 address is needed");
  const int fd = socket(AF_INET, SOCK_STREAM, 0);
  if (connect(fd, reinterpret_cast<sockaddr*>(&address), sizeof address)) die("connect");
  return Link(fd);
}

void Link::send_all(const void* data, std::size_t bytes) {
  const char* from = static_cast<const char*>(data);
  while (bytes > 0) {
    const ssize_t sent = send(fd_, from, bytes, MSG_NOSIGNAL);
    if (sent <= 0) die("the other side does not listen any more");
    from += sent;
    bytes -= static_cast<std::size_t>(sent);
  }
}

void Link::receive_all(void* data, std::size_t bytes) {
  char* to = static_cast<char*>(data);
  while (bytes > 0) {
    const ssize_t got = recv(fd_, to, bytes, 0);
    if (got < 0 && errno == EINTR) continue;  // having been stopped and continued is enough for it
    if (got == 0) errno = ECONNRESET;
    if (got <= 0) die("the other side is gone or silent");
    to += got;
    bytes -= static_cast<std::size_t>(got);
  }
}

Ends Link::swap(const Ends& mine) {
  send_all(&mine, sizeof mine);
  Ends theirs;
  receive_all(&theirs, sizeof theirs);
  return theirs;
}

void Link::send_text(const std::string& text) {
  const std::uint32_t bytes = htonl(static_cast<std::uint32_t>(text.size()));
  send_all(&bytes, sizeof bytes);
  send_all(text.data(), text.size());
}

std::string Link::receive_text() {
  std::uint32_t bytes = 0;
  receive_all(&bytes, sizeof bytes);
  std::string text(ntohl(bytes), '\0');
  receive_all(text.data(), text.size());
  return text;
}

void Link::meet() {
  send_text("here");
  if (receive_text() != "here") die("the sides are at different steps");
}

}  // namespace byte_check
