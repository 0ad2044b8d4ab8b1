#include "peers/handshake.h"

#include <fcntl.h>
#include <sys/socket.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>

#include "base/clock.h"
#include "peers/doorbell.h"

namespace gdr::peers {
namespace {

enum class Kind : std::uint32_t { kHello = 1, kProof, kShown, kShownToo };

struct Message {
  std::uint64_t magic;
  std::uint32_t layout;
  Kind kind;
  rnic::Token token;
  std::int32_t segment;  // the sender's number of its descriptor
  rnic::Secret proof;    // the receiver's secret
};

constexpr std::size_t kDescriptors = 2;

// A signal's handler interrupts a call; however many come, they do not keep one here for longer.
constexpr Nanoseconds kPatience = 300 * kMillisecond;

template <typename Call>
ssize_t uninterrupted(const Call& call) {
  const Nanoseconds end = now() + kPatience;
  while (true) {
    const ssize_t result = call();
    if (result >= 0 || errno != EINTR) return result;
    if (now() >= end) {
      errno = EAGAIN;
      return -1;
    }
  }
}

struct alignas(cmsghdr) Control {
  char bytes[CMSG_SPACE(sizeof(int) * kDescriptors)];
};

// Takes ownership of every descriptor that came, wanted or not.
std::size_t take_descriptors(msghdr& header, UniqueFd (&taken)[kDescriptors]) {
  std::size_t count = 0;
  for (cmsghdr* part = CMSG_FIRSTHDR(&header); part != nullptr; part = CMSG_NXTHDR(&header, part)) {
    if (part->cmsg_level != SOL_SOCKET || part->cmsg_type != SCM_RIGHTS) continue;
    const std::size_t present = (part->cmsg_len - CMSG_LEN(0)) / sizeof(int);
    for (std::size_t i = 0; i < present; ++i) {
      int descriptor = -1;
      std::memcpy(&descriptor, CMSG_DATA(part) + i * sizeof(int), sizeof descriptor);
      UniqueFd owned(descriptor);
      if (count < kDescriptors) taken[count] = std::move(owned);
      ++count;
    }
  }
  return count;
}

// Both ends' buffers are empty, so it never waits.
Result<void> send_message(int connection, const Face& own, Kind kind, const rnic::Secret& proof) {
  Message message{rnic::kSegmentMagic, rnic::kSegmentLayout, kind, own.token, own.segment, proof};
  iovec bytes{&message, sizeof message};
  msghdr header{};
  header.msg_iov = &bytes;
  header.msg_iovlen = 1;
  Control control{};
  if (kind == Kind::kShown || kind == Kind::kShownToo) {
    header.msg_control = control.bytes;
    header.msg_controllen = sizeof control.bytes;
    cmsghdr* part = CMSG_FIRSTHDR(&header);
    part->cmsg_level = SOL_SOCKET;
    part->cmsg_type = SCM_RIGHTS;
    part->cmsg_len = CMSG_LEN(sizeof(int) * kDescriptors);
    const int descriptors[kDescriptors] = {own.segment, own.doorbell};
    std::memcpy(CMSG_DATA(part), descriptors, sizeof descriptors);
  }
  const ssize_t sent =
      uninterrupted([&] { return sendmsg(connection, &header, MSG_NOSIGNAL | MSG_DONTWAIT); });
  if (sent == static_cast<ssize_t>(sizeof message)) return {};
  if (errno == EPIPE) return Error{ECONNRESET, "the process went away"};
  return from_errno("introducing this process");
}

// EAGAIN: nothing has come yet.
Result<Message> receive_message(int connection, UniqueFd (&descriptors)[kDescriptors]) {
  Message message{};
  iovec bytes{&message, sizeof message};
  Control control{};
  msghdr header{};
  header.msg_iov = &bytes;
  header.msg_iovlen = 1;
  header.msg_control = control.bytes;
  header.msg_controllen = sizeof control.bytes;
  const ssize_t received =
      uninterrupted([&] { return recvmsg(connection, &header, MSG_CMSG_CLOEXEC | MSG_DONTWAIT); });
  if (received < 0 && errno != ECONNRESET) return from_errno("a process's introduction");
  // A message of no bytes looks like the end, and may bring some all the same.
  const std::size_t count = received < 0 ? 0 : take_descriptors(header, descriptors);
  if (received <= 0) return Error{ECONNRESET, "the process went away"};
  if (received != static_cast<ssize_t>(sizeof message) ||
      (header.msg_flags & (MSG_TRUNC | MSG_CTRUNC)) != 0 || message.magic != rnic::kSegmentMagic ||
      message.token == 0) {
    return Error{EPROTO, "a process's introduction is not one"};
  }
  if (message.layout != rnic::kSegmentLayout) {
    return Error{EPROTO, "a process runs another version of gdrkit"};
  }
  const bool shows = message.kind == Kind::kShown || message.kind == Kind::kShownToo;
  if (count != (shows ? kDescriptors : 0) || (shows && !is_doorbell(descriptors[1].get()))) {
    return Error{EPROTO, "a process's introduction is not one"};
  }
  return message;
}

}  // namespace

Result<Handshake> Handshake::start(UniqueFd connection, const Face& own, bool calls) {
  Result<Identity> identity = identify(connection.get());
  if (!identity) return identity.error();
  return Handshake(std::move(connection), own, *std::move(identity), calls);
}

Result<Handshake> Handshake::call(UniqueFd connection, const Face& own) {
  Result<Handshake> started = start(std::move(connection), own, true);
  if (!started) return started;
  if (Result<void> sent = send_message(started->connection(), own, Kind::kHello, {}); !sent) {
    return sent.error();
  }
  return started;
}

Result<Handshake> Handshake::answer(UniqueFd connection, const Face& own) {
  return start(std::move(connection), own, false);
}

Result<bool> Handshake::go_on() {
  while (true) {
    Result<bool> done = receive();
    if (!done && done.error().code == EAGAIN) return false;
    if (!done || *done) return done;
  }
}

Result<bool> Handshake::receive() {
  UniqueFd descriptors[kDescriptors];
  const Result<Message> message = receive_message(connection_.get(), descriptors);
  if (!message) return message.error();
  const Kind expected =
      calls_ ? (proved_ ? Kind::kShownToo : Kind::kProof) : (proved_ ? Kind::kShown : Kind::kHello);
  if (message->kind != expected || (proved_ && message->token != introduction_.token)) {
    return Error{EPROTO, "a process's introduction is not one"};
  }
  const bool has_to_prove = message->kind == Kind::kProof || message->kind == Kind::kShown;
  if (has_to_prove && message->proof != own_.secret) {
    return Error{EACCES, "a process that the kernel does not let debug this one"};
  }
  introduction_.token = message->token;
  if (proved_) {
    introduction_.segment = std::move(descriptors[0]);
    introduction_.doorbell = std::move(descriptors[1]);
    return true;
  }
  Result<rnic::Secret> secret = secret_of(identity_, message->segment);
  if (!secret) return secret.error();
  proved_ = true;
  const Kind next = calls_ ? Kind::kShown : Kind::kProof;
  if (Result<void> sent = send_message(connection_.get(), own_, next, *secret); !sent) {
    return sent.error();
  }
  return false;
}

Result<void> Handshake::show_too(int connection) {
  return send_message(connection, own_, Kind::kShownToo, {});
}

}  // namespace gdr::peers
