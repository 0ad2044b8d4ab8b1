// What another process of the same account sends while two processes meet: messages of any bytes,
// with any descriptors, to a caller and to an answerer. Nothing of it may crash, wait, or leak a
// descriptor, and nobody who does not name the right secret is shown anything.
//
// An input is a list of messages: a byte of choices, a byte of descriptors, a length, that many
// bytes.
#include <fcntl.h>
#include <sys/eventfd.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <vector>

#include "input.h"
#include "open_descriptors.h"
#include "peers/doorbell.h"
#include "peers/handshake.h"
#include "send_descriptors.h"

namespace {

using gdr::UniqueFd;
using gdr::peers::Doorbell;
using gdr::peers::Face;
using gdr::peers::Handshake;
using gdr::test::Input;
using gdr::test::require;

constexpr std::size_t kMessage = 40;  // of a right one
constexpr std::size_t kProofAt = 24;

struct World {
  std::unique_ptr<gdr::rnic::Segment> own = *gdr::rnic::Segment::create(0x00400001, {});
  std::unique_ptr<gdr::rnic::Segment> theirs = *gdr::rnic::Segment::create(0x00800001, {});
  Doorbell own_doorbell = *Doorbell::make(), doorbell = *Doorbell::make();
  UniqueFd counter{eventfd(0, EFD_CLOEXEC)};
  UniqueFd null{open("/dev/null", O_RDWR | O_CLOEXEC)};
  UniqueFd unsealed{memfd_create("gdrkit-rnic-0123", MFD_CLOEXEC)};
  Face face() const {
    return {0x00400001, own->descriptor(), own_doorbell.outer.get(), own->secret()};
  }
  int pick(unsigned choice) const {
    const int all[] = {theirs->descriptor(), doorbell.outer.get(), null.get(),
                       unsealed.get(),       counter.get(),        own->descriptor()};
    return all[choice % 6];
  }
};

World& world() {
  static World* const only = new World;
  return *only;
}

// A right message, but for what the input says: so that the fuzzer need not guess 16 bytes.
std::vector<std::uint8_t> message_of(Input& input, unsigned choices) {
  std::vector<std::uint8_t> message = input.bytes<std::uint8_t>(input.byte());
  if ((choices & 2) != 0) {
    message.resize(kMessage);
    const std::uint64_t magic = gdr::rnic::kSegmentMagic;
    const std::uint32_t layout = gdr::rnic::kSegmentLayout, kind = 1 + (choices >> 4) % 4;
    const std::int32_t descriptor = world().theirs->descriptor();
    std::memcpy(message.data(), &magic, 8);
    std::memcpy(message.data() + 8, &layout, 4);
    std::memcpy(message.data() + 12, &kind, 4);
    if ((choices & 4) != 0) std::memcpy(message.data() + 20, &descriptor, 4);
  }
  if ((choices & 1) != 0 && message.size() >= kMessage) {
    std::memcpy(message.data() + kProofAt, world().own->secret().data(), 16);
  }
  return message;
}

// libFuzzer finds it by itself: it looks at what is compared.
bool names_the_secret(const std::vector<std::uint8_t>& message) {
  return message.size() >= kMessage &&
         std::memcmp(message.data() + kProofAt, world().own->secret().data(), 16) == 0;
}

void send(int to, const std::vector<std::uint8_t>& message, unsigned descriptors) {
  std::vector<int> all(descriptors % 5);
  for (std::size_t i = 0; i < all.size(); ++i) {
    all[i] = world().pick(descriptors / 5 + static_cast<unsigned>(i));
  }
  (void)gdr::test::send_descriptors(to, message.data(), message.size(), all,
                                    MSG_DONTWAIT | MSG_NOSIGNAL);
}

// Whether descriptors have come, which only the introduction brings.
bool was_shown_something(int connection) {
  char bytes[128];
  iovec data{bytes, sizeof bytes};
  alignas(cmsghdr) char control[CMSG_SPACE(4 * sizeof(int))] = {};
  bool shown = false;
  while (true) {
    msghdr header{};
    header.msg_iov = &data;
    header.msg_iovlen = 1;
    header.msg_control = control;
    header.msg_controllen = sizeof control;
    if (recvmsg(connection, &header, MSG_DONTWAIT | MSG_CMSG_CLOEXEC) <= 0) return shown;
    for (cmsghdr* part = CMSG_FIRSTHDR(&header); part != nullptr;
         part = CMSG_NXTHDR(&header, part)) {
      for (std::size_t at = 0; CMSG_LEN(at + sizeof(int)) <= part->cmsg_len; at += sizeof(int)) {
        int descriptor = -1;
        std::memcpy(&descriptor, CMSG_DATA(part) + at, sizeof descriptor);
        close(descriptor);
        shown = true;
      }
    }
  }
}

void meet(Input& input, bool calls) {
  int ends[2];
  require(socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC | SOCK_NONBLOCK, 0, ends) == 0);
  const UniqueFd other(ends[1]);
  auto handshake = calls ? Handshake::call(UniqueFd(ends[0]), world().face())
                         : Handshake::answer(UniqueFd(ends[0]), world().face());
  require(static_cast<bool>(handshake));
  bool named = false;
  while (!input.empty()) {
    const unsigned choices = input.byte(), descriptors = input.byte();
    const std::vector<std::uint8_t> message = message_of(input, choices);
    send(other.get(), message, descriptors);
    named = named || names_the_secret(message);
    const auto done = handshake->go_on();
    if (!done) break;
    if (!*done) continue;
    require(named);
    auto introduction = handshake->take_introduction();
    require(introduction.token != 0);
    (void)gdr::rnic::Segment::map(std::move(introduction.segment));
    gdr::peers::ring_doorbell(introduction.doorbell.get());
    world().doorbell.take_ring();
    break;
  }
  require(!was_shown_something(other.get()) || named);
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  (void)world();
  const int before = gdr::test::open_descriptors();
  Input input(data, size);
  const bool calls = (input.byte() & 1) != 0;
  meet(input, calls);
  require(gdr::test::open_descriptors() == before);
  return 0;
}
