#include "net/port_sharing.h"

#include <netinet/udp.h>
#include <sys/socket.h>

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <cstring>
#include <thread>

#include "base/bytes.h"
#include "base/clock.h"
#include "base/random.h"
#include "engine/transmit.h"
#include "net/sharing_filter.h"
#include "net/socket_address.h"
#include "net/udp_options.h"
#include "rnic/gids.h"

namespace gdr::net {
namespace {

constexpr Nanoseconds kTick = 200 * kMicrosecond;
constexpr Nanoseconds kPatience = 50 * kMillisecond;  // for answers: a member may be stopped
constexpr Nanoseconds kAskAgain = 20 * kMillisecond;
constexpr std::uint32_t kSparePlaces = 4;  // members that are not of this library's making
constexpr std::uint32_t kMostMembers = kMostMemberPlaces;
constexpr std::size_t kLargest = 65536;
constexpr int kMostWrong = 64;                    // datagrams in a row that are no strays
constexpr Nanoseconds kReadNames = kMillisecond;  // no more often

// In place of a packet, to the port itself. Its first byte is no opcode; the queue pair number,
// where a packet has it, is the place that is asked.
struct Question {
  std::uint8_t opcode = 0xff;
  std::uint8_t reserved[3] = {};
  std::uint8_t place[4] = {};  // big endian, as a BTH's destination queue pair
  std::uint64_t magic = 0x6564'6952'7261'6853;
  std::uint64_t name = 0;  // of the asker
  std::uint32_t number = 0;
  std::uint32_t padding = 0;
};

// In front of a stray.
struct StrayHeader {
  std::uint64_t name;  // of whom it is for
  wire::Address source;
  std::uint32_t packet_bytes;
  std::uint16_t source_port;
  std::uint16_t congested;
};

// SharedPort::name: the socket's port, and a number that only processes of this user can read.
constexpr std::uint16_t port_of_name(std::uint64_t name) {
  return static_cast<std::uint16_t>(name);
}

}  // namespace

PortSharing::PortSharing(rnic::Adapter& adapter, std::uint32_t device, std::uint32_t address,
                         UdpPort& port)
    : adapter_(adapter),
      port_(port),
      own_(adapter.segment().header().ports[device][address]),
      buffer_(std::make_unique<std::byte[]>(kLargest + sizeof(StrayHeader))) {}

PortSharing::~PortSharing() { own_.name.store(0); }

Result<void> PortSharing::open() {
  Result<PrivateSocket> socket = PrivateSocket::open(port_.address(), port_.scope(), random_u64());
  if (!socket) return socket.error();
  private_ = *std::move(socket);
  port_.set_private_socket(private_.descriptor());
  seen_strays_ = own_.strays.load();
  own_.name.store(private_.name());
  if (members().size() < 2) has_joined_.store(true);  // nobody else
  return {};
}

void PortSharing::await_join() const {
  const Nanoseconds deadline = now() + 2 * kPatience;
  while (!has_joined_.load() && now() < deadline) {
    std::this_thread::sleep_for(std::chrono::microseconds(50));
  }
}

rnic::SharedPort* PortSharing::port_in(rnic::Segment& segment, const wire::Address& address) {
  rnic::SegmentHeader& header = segment.header();
  const std::uint32_t count = std::min(rnic::read_once(header.device_count), rnic::kDevices);
  for (std::uint32_t i = 0; i < count; ++i) {
    if (const auto found = rnic::find_address(header.devices[i], address)) {
      return &header.ports[i][*found];
    }
  }
  return nullptr;
}

rnic::SharedPort* PortSharing::open_port_in(rnic::Segment& segment, const wire::Address& address) {
  rnic::SharedPort* port = port_in(segment, address);
  return port != nullptr && port->name.load() != 0 ? port : nullptr;
}

std::optional<std::uint16_t> PortSharing::private_port_of(std::uint32_t slot,
                                                          const wire::Address& address) const {
  std::optional<std::uint16_t> found;
  const auto look_at = [&](rnic::Segment& segment) {
    if (rnic::slot_of(rnic::read_once(segment.header().token)) != slot) return false;
    if (const rnic::SharedPort* port = port_in(segment, address)) {
      found = port_of_name(port->name.load());
    }
    return true;
  };
  if (!look_at(adapter_.segment())) adapter_.neighbours().any_segment(look_at);
  return found;
}

std::vector<std::uint32_t> PortSharing::slots() {
  std::vector<std::uint32_t> slots;
  for (const Member& member : members()) slots.push_back(member.slot);
  return slots;
}

// Another account can send questions, too, but knows no member's name.
bool PortSharing::is_of_a_member(std::uint64_t name) {
  if (name == 0) return false;
  if (std::ranges::find(names_, name) != names_.end()) return true;
  const Nanoseconds time = now();
  if (names_at_ != 0 && time - names_at_ < kReadNames) return false;
  names_at_ = time;
  names_.assign(1, own_.name.load());
  adapter_.neighbours().any_segment([&](rnic::Segment& segment) {
    if (const rnic::SharedPort* port = open_port_in(segment)) names_.push_back(port->name.load());
    return names_.size() == kMostMembers;
  });
  return std::ranges::find(names_, name) != names_.end();
}

bool PortSharing::take_question(const Arrival& arrival) {
  Question question;
  if (arrival.bytes.size() != sizeof question || arrival.source != port_.address() ||
      static_cast<std::uint8_t>(arrival.bytes[0]) != question.opcode) {
    return false;
  }
  std::memcpy(&question, arrival.bytes.data(), sizeof question);
  if (question.magic != Question{}.magic || !is_of_a_member(question.name)) return false;
  // Places that nobody has are delivered to anybody, and are asked last; several may ask at once.
  if (std::ranges::find(answered_, question.number) != answered_.end()) return true;
  answered_[answers_++ % answered_.size()] = question.number;
  own_.place.store(std::uint64_t{question.number} << 32 | (load_be32(question.place) + 1));
  return true;
}

std::vector<std::uint16_t> PortSharing::private_ports(const wire::Address& address) const {
  std::vector<std::uint16_t> found;
  const auto look_at = [&](rnic::Segment& segment) {
    if (const rnic::SharedPort* open = open_port_in(segment, address)) {
      found.push_back(port_of_name(open->name.load()));
    }
    return false;
  };
  look_at(adapter_.segment());
  adapter_.neighbours().any_segment(look_at);
  return found;
}

bool PortSharing::hand_over(std::uint32_t slot, const Arrival& arrival) {
  asks_.store(true);
  return pass_on(slot, arrival) == 0;
}

int PortSharing::pass_on(std::uint32_t slot, const Arrival& arrival) const {
  int error = ESRCH;
  adapter_.neighbours().any_segment([&](rnic::Segment& segment) {
    if (rnic::slot_of(rnic::read_once(segment.header().token)) != slot) return false;
    rnic::SharedPort* port = open_port_in(segment);
    if (port == nullptr) return false;
    const std::uint64_t name = port->name.load();
    StrayHeader header{name, arrival.source, arrival.packet_bytes, arrival.source_port,
                       static_cast<std::uint16_t>(arrival.congested ? 1 : 0)};
    SocketAddress to = socket_address(port_.address(), port_of_name(name), port_.scope());
    const iovec parts[] = {{&header, sizeof header},
                           {const_cast<std::byte*>(arrival.bytes.data()), arrival.bytes.size()}};
    msghdr message{};
    message.msg_name = to.get();
    message.msg_namelen = to.length;
    message.msg_iov = const_cast<iovec*>(parts);
    message.msg_iovlen = std::size(parts);
    // In one piece, whatever bursts the socket is set to cut just now (burst_socket.h).
    ControlMessages control;
    control.add(SOL_UDP, UDP_SEGMENT, std::uint16_t{0});
    control.attach_to(&message);
    error = sendmsg(private_.descriptor(), &message, MSG_DONTWAIT) < 0 ? EAGAIN : 0;
    if (error == 0) port->strays.fetch_add(1);
    return true;
  });
  return error;
}

bool PortSharing::receive(Arrival* arrival) {
  const std::uint32_t strays = own_.strays.load(std::memory_order_relaxed);
  if (strays == seen_strays_ && !look_.load(std::memory_order_relaxed)) return false;
  for (int wrong = 0; wrong < kMostWrong; ++wrong) {
    const ssize_t got =
        recv(private_.descriptor(), buffer_.get(), kLargest + sizeof(StrayHeader), MSG_DONTWAIT);
    if (got < 0) {
      look_.store(false, std::memory_order_relaxed);
      seen_strays_ = strays;
      return false;
    }
    if (read_stray(static_cast<std::size_t>(got), arrival)) return true;
  }
  return false;
}

// Whatever else is there has been taken off: what is left would be readable for ever.
bool PortSharing::read_stray(std::size_t got, Arrival* arrival) {
  StrayHeader header;
  if (got <= sizeof header) return false;
  std::memcpy(&header, buffer_.get(), sizeof header);
  arrival->source = header.source;
  arrival->source_port = header.source_port;
  arrival->bytes = {buffer_.get() + sizeof header, got - sizeof header};
  arrival->packet_bytes = header.packet_bytes;
  arrival->congested = header.congested != 0;
  arrival->is_stray = true;
  return header.name == own_.name.load() && header.packet_bytes > 0;
}

Nanoseconds PortSharing::run(Nanoseconds time) {
  if (question_ != 0) {
    const std::vector<Member> present = members();
    if (!have_answered(present) && time - asked_at_ < kPatience) return time + kTick;
    // Who has not answered by now may get its packets handed over, and the first of them asks
    // again.
    install(present);
    question_ = 0;
    has_joined_.store(true);
  }
  if (listeners_changed_.exchange(false)) {
    if (const std::vector<Member> present = members(); present.size() > 1) install(present);
  }
  if (!asks_.load()) return engine::kNever;
  if (asked_at_ != 0 && time - asked_at_ < kAskAgain) return asked_at_ + kAskAgain;
  asks_.store(false);
  ask();
  asked_at_ = time;
  return question_ != 0 ? time + kTick : engine::kNever;
}

void PortSharing::ask() {
  before_ = members();
  if (before_.size() < 2) return has_joined_.store(true);
  while (question_ == 0) question_ = static_cast<std::uint32_t>(random_u64());
  // The filter first: it is what delivers questions. Meanwhile packets go by what was known.
  install(before_);
  for (std::uint32_t place = 0; place < before_.size() + kSparePlaces; ++place) {
    Question question;
    question.number = question_;
    question.name = private_.name();
    store_be32(question.place, place);
    iovec piece{&question, sizeof question};
    (void)port_.send({.destination = port_.address(),
                      .pieces = {&piece, 1},
                      .packet_bytes = sizeof question,
                      .bytes = sizeof question});
  }
}

std::vector<PortSharing::Member> PortSharing::members() {
  std::vector<Member> members;
  const auto read = [&](rnic::Segment& segment) {
    const rnic::SharedPort* port = open_port_in(segment);
    if (port == nullptr || members.size() == kMostMembers) return false;
    members.push_back({rnic::slot_of(rnic::read_once(segment.header().token)), port->place.load()});
    return false;
  };
  read(adapter_.segment());
  adapter_.neighbours().any_segment(read);
  return members;
}

bool PortSharing::have_answered(std::span<const Member> members) const {
  return std::ranges::none_of(members, [this](const Member& member) {
    const auto same = [&](const Member& one) {
      return one.slot == member.slot && one.told == member.told;
    };
    return member.told == 0 || std::ranges::any_of(before_, same);
  });
}

void PortSharing::install(std::span<const Member> members) {
  std::vector<ListenerPlace> listeners;
  const auto read = [&](rnic::Segment& segment) {
    const std::uint32_t slot = rnic::slot_of(rnic::read_once(segment.header().token));
    const auto member = std::ranges::find(members, slot, &Member::slot);
    if (member == members.end() || member->told == 0) return false;
    const auto place = static_cast<std::uint32_t>(member->told) - 1;
    for (const std::uint64_t id : rnic::listened_for(segment, port_.address())) {
      listeners.push_back({id, place});
    }
    return listeners.size() >= kMostListenerPlaces;
  };
  if (!read(adapter_.segment())) adapter_.neighbours().any_segment(read);
  std::vector<MemberPlace> places;
  for (const Member& member : members) {
    if (member.told == 0) continue;
    places.push_back({member.slot, static_cast<std::uint32_t>(member.told) - 1});
  }
  std::vector<sock_filter> code = member_of_packet(places, listeners);
  const sock_fprog program{static_cast<unsigned short>(code.size()), code.data()};
  // Without it packets are still handed over, only slower.
  (void)setsockopt(port_.descriptor(), SOL_SOCKET, SO_ATTACH_REUSEPORT_CBPF, &program,
                   sizeof program);
}

}  // namespace gdr::net
