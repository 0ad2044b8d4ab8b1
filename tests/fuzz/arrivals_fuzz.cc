// What arrives at a process that carries packets, by real sockets: any datagrams, at the shared
// port and at the private one, from the peer's address and from strangers': whatever it is, nothing
// is left to be read afterwards (or the thread that waits for packets would never sleep again),
// only granted memory changes, and the path goes on.
//
// In a network namespace of its own where that is permitted, else on an address of the loopback
// that is this process's alone.
//
// Input: steps, each a byte that says what is sent and from where, and what it needs.
#include <net/if.h>
#include <sched.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cstdio>
#include <cstdlib>
#include <string>

#include "base/bytes.h"
#include "input.h"
#include "packet_host.h"
#include "wire/packet.h"

namespace {

using namespace gdr;
using test::Input;
using test::PacketHost;

constexpr std::uint32_t kPeerNumber = 0x300'001;
constexpr std::size_t kMostSteps = 32;
constexpr std::byte kGuard{0xa5};

void require(bool claim, const char* what) {
  if (claim) return;
  std::fprintf(stderr, "not so: %s\n", what);
  std::abort();
}

// Before there is another thread.
void enter_own_network() {
  if (unshare(CLONE_NEWUSER | CLONE_NEWNET) != 0 && unshare(CLONE_NEWNET) != 0) return;
  ifreq request{};
  request.ifr_flags = IFF_UP;
  std::strcpy(request.ifr_name, "lo");
  const UniqueFd any(socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0));
  require(ioctl(any.get(), SIOCSIFFLAGS, &request) == 0, "the loopback is up");
}

std::string address_text(int last) {
  const int pid = getpid();
  return "127." + std::to_string(64 + (pid >> 14 & 31)) + "." + std::to_string(pid >> 6 & 255) +
         "." + std::to_string((pid & 63) * 4 + last);
}

class World {
 public:
  World()
      : host_(("soft0/ip=" + address_text(1)).c_str()),
        here_(host_.adapter().devices()[0].address),
        there_(here_) {
    there_[15] = static_cast<std::uint8_t>(there_[15] + 1);
    for (const ibv_qp_type type : {IBV_QPT_RC, IBV_QPT_UC, IBV_QPT_UD}) {
      queue_pairs_.push_back(host_.queue_pair(type));
    }
    connect();
    auto gsi = host_.path().open_general_services(
        {.device = 0, .receive = [this](const net::Mad&) { ++mads_; }, .ended = {}});
    require(static_cast<bool>(gsi), "queue pair 1");
    gsi_ = *gsi;
    require(static_cast<bool>(host_.path().general_services().listen(*gsi_, kService)),
            "a listener");
    bind_to(peer_, there_, wire::kRocePort);
    wire::Address any{};
    any[10] = any[11] = 0xff;
    bind_to(stranger_, any, 0);
    watched_ = PacketHost::sockets(0);
    std::erase(watched_, stranger_.get());
    require(watched_.size() == 1, "one private socket");
    net::SocketAddress own;
    own.length = sizeof own.storage;
    getsockname(watched_[0], own.get(), &own.length);
    private_port_ = net::port_of(*own.get());
    for (const int socket : PacketHost::sockets(wire::kRocePort)) {
      if (socket != peer_.get()) watched_.push_back(socket);
    }
    require(watched_.size() == 2, "one shared socket");
  }

  void run(Input& input) {
    std::fill(host_.memory().begin(), host_.memory().end(), kGuard);
    for (std::size_t i = 0; i < kMostSteps && !input.empty(); ++i) step(input);
    settle();
    const auto outside = [](std::byte byte) { return byte != kGuard; };
    const bool changed =
        std::any_of(host_.memory().begin() + kGranted, host_.memory().end(), outside);
    require(!changed, "only what was granted has changed");
    (void)host_.completions();
    host_.serve();
    if (queue_pairs_[0]->state() != IBV_QPS_RTS || ++runs_ % 64 == 0) connect();
  }

 private:
  static constexpr std::size_t kGranted = PacketHost::kBytes / 2;

  void bind_to(UniqueFd& socket, const wire::Address& address, std::uint16_t port) {
    socket.reset(::socket(AF_INET, SOCK_DGRAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0));
    const net::SocketAddress own = net::socket_address(address, port);
    require(bind(socket.get(), own.get(), own.length) == 0, "a socket");
  }

  void connect() {
    for (const auto& qp : queue_pairs_) host_.connect(*qp, there_, kPeerNumber);
    psn_ = 0;
    ibv_sge room{host_.address(), 4096, host_.key()};
    ibv_recv_wr request{};
    request.sg_list = &room;
    request.num_sge = 1;
    const ibv_recv_wr* bad = nullptr;
    for (const auto& qp : queue_pairs_) {
      for (int i = 0; i < 8; ++i) (void)qp->post_receive(&request, &bad);
    }
  }

  // Bits: 1 by a stranger, 2 to the private port; then what.
  void step(Input& input) {
    const std::uint8_t choice = input.byte();
    const int socket = (choice & 1) != 0 ? stranger_.get() : peer_.get();
    const std::uint16_t port = (choice & 2) != 0 ? private_port_ : wire::kRocePort;
    std::vector<std::byte> bytes;
    switch (choice >> 2 & 7) {
      case 0:
        bytes = input.bytes(input.byte());
        break;
      case 1:
        bytes = std::vector<std::byte>(std::size_t{input.byte()} * 16, std::byte{input.byte()});
        break;
      case 2:
        bytes = stray(input);
        break;
      case 3:
        bytes = question(input);
        break;
      case 4:
        detach_filter();
        return;
      case 5:
        host_.path().progress();
        return;
      case 6:
        bytes = management_datagram(input);
        break;
      default:
        bytes = packet(input);
    }
    send(socket, port, bytes);
  }

  // To queue pair 1: for the listener, for an id of this process or another's, or for nobody; right
  // or wrong in its headers; bytes of it from the input.
  std::vector<std::byte> management_datagram(Input& input) {
    net::Mad mad;
    mad.bytes = {std::byte{1}, std::byte{7}, std::byte{2}, std::byte{3}};
    mad.bytes[17] = static_cast<std::byte>(0x10 + input.byte() % 12);
    const std::uint8_t choice = input.byte();
    const std::uint32_t prefix = host_.path().general_services().id_prefix();
    const std::uint32_t id = (choice & 1) != 0 ? prefix : prefix ^ 0x100'0000;
    store_be32(&mad.bytes[24], id);
    store_be32(&mad.bytes[28], id);
    if ((choice & 2) != 0) store_be64(&mad.bytes[32], kService);
    if ((choice & 4) != 0) mad.bytes[input.byte()] = std::byte{input.byte()};
    std::vector<std::byte> bytes =
        net::make_mad_packet({there_, here_, wire::kRocePort, wire::kRocePort}, psn_, mad);
    if ((choice & 8) == 0) return bytes;
    // Wrong in a header, or of another length, and with a right ICRC.
    bytes.resize(bytes.size() - wire::kIcrcBytes);
    bytes[input.byte() % 20] ^= std::byte{input.byte()};
    bytes.resize(std::max<std::size_t>(bytes.size() - (choice >> 4) * std::size_t{4}, 20));
    const wire::Flow flow{there_, here_, wire::kRocePort, wire::kRocePort};
    const std::uint32_t icrc = wire::icrc_of(flow, 0, bytes);
    const auto* tail = reinterpret_cast<const std::byte*>(&icrc);
    bytes.insert(bytes.end(), tail, tail + sizeof icrc);
    return bytes;
  }

  // With an ICRC that is right for the peer's address.
  std::vector<std::byte> packet(Input& input) {
    wire::Packet packet{};
    packet.opcode = input.byte();
    packet.info = wire::find_opcode(packet.opcode);
    if (packet.info == nullptr) return input.bytes(64);
    const std::uint8_t choice = input.byte();
    packet.ack_request = (choice & 1) != 0;
    packet.solicited = (choice & 2) != 0;
    packet.partition_key = (choice & 4) != 0 ? 0x1234 : wire::kDefaultPartitionKey;
    packet.destination_qp = queue_pairs_[choice >> 3 & 1]->number();
    if ((choice & 16) != 0) packet.destination_qp = queue_pairs_[2]->number();
    if ((choice & 32) != 0) packet.destination_qp += input.byte();
    if ((choice & 64) != 0) packet.destination_qp ^= 0x400'000;  // another process's
    packet.psn = (choice & 128) != 0 ? psn_ + input.byte() - 128 : psn_++;
    packet.psn &= wire::kPsnMask;
    // What the memory's first half holds, or what nobody has a key to.
    const std::uint64_t offset = std::uint64_t{input.byte()} * 64;
    const std::uint32_t key = (input.byte() & 7) != 0 ? host_.key() : input.byte();
    packet.reth = {host_.address() + offset, key, input.byte()};
    packet.atomic = {host_.address() + offset, key, input.byte(), input.byte()};
    packet.deth = {(choice & 1) != 0 ? PacketHost::kQkey : input.byte(), kPeerNumber};
    packet.aeth = {input.byte(), input.byte()};
    const std::vector<std::byte> payload = input.bytes(input.byte());
    std::vector<std::byte> bytes(wire::kMostHeaderBytes);
    bytes.resize(wire::write_headers(packet, bytes.data()));
    bytes.insert(bytes.end(), payload.begin(), payload.end());
    const wire::Flow flow{there_, here_, wire::kRocePort, wire::kRocePort};
    const std::uint32_t icrc = wire::icrc_of(flow, 0, bytes);
    const auto* tail = reinterpret_cast<const std::byte*>(&icrc);
    bytes.insert(bytes.end(), tail, tail + sizeof icrc);
    return bytes;
  }

  std::uint64_t name() {
    return host_.adapter().segment().header().ports[0][rnic::kOwnAddress].name.load();
  }

  // Begins with what only processes of this user know.
  std::vector<std::byte> stray(Input& input) {
    const std::uint64_t known = name();
    const auto* begin = reinterpret_cast<const std::byte*>(&known);
    std::vector<std::byte> bytes(begin, begin + sizeof known);
    if ((input.byte() & 1) != 0) {
      for (const std::uint8_t byte : there_) bytes.push_back(std::byte{byte});
    }
    const std::vector<std::byte> rest = input.bytes(input.byte());
    bytes.insert(bytes.end(), rest.begin(), rest.end());
    if ((input.byte() & 1) != 0)
      host_.adapter().segment().header().ports[0][rnic::kOwnAddress].strays.fetch_add(1);
    return bytes;
  }

  std::vector<std::byte> question(Input& input) {
    std::vector<std::byte> bytes(32);
    bytes[0] = std::byte{0xff};
    bytes[7] = std::byte{input.byte()};
    constexpr std::uint64_t kMagic = 0x6564'6952'7261'6853;
    std::memcpy(&bytes[8], &kMagic, sizeof kMagic);
    const std::uint64_t known = (input.byte() & 1) != 0 ? name() : 0;
    std::memcpy(&bytes[16], &known, sizeof known);
    bytes[24] = std::byte{input.byte()};
    return bytes;
  }

  // As where the kernel takes no filter.
  void detach_filter() {
    const int unused = 0;
    (void)setsockopt(watched_[0], SOL_SOCKET, SO_DETACH_FILTER, &unused, sizeof unused);
  }

  void send(int socket, std::uint16_t port, const std::vector<std::byte>& bytes) {
    const net::SocketAddress to = net::socket_address(here_, port);
    (void)sendto(socket, bytes.data(), bytes.size(), MSG_DONTWAIT, to.get(), to.length);
  }

  // The thread sees what nobody polls for, within milliseconds.
  void settle() {
    const Nanoseconds end = now() + 2 * kSecond;
    while (true) {
      host_.path().progress();
      pollfd waits[2] = {{watched_[0], POLLIN, 0}, {watched_[1], POLLIN, 0}};
      if (poll(waits, 2, 0) == 0) break;
      require(now() < end, "everything that arrived has been read");
      usleep(50);
    }
    std::byte answer[2048];
    while (recv(peer_.get(), answer, sizeof answer, MSG_DONTWAIT) >= 0) {
    }
  }

  static constexpr std::uint64_t kService = 0x0106'1234;
  PacketHost host_;
  std::shared_ptr<net::Gsi> gsi_;
  std::atomic<std::uint64_t> mads_{0};
  wire::Address here_, there_;
  std::vector<std::shared_ptr<rnic::QueuePair>> queue_pairs_;
  UniqueFd peer_, stranger_;
  std::vector<int> watched_;  // the private one first
  std::uint16_t private_port_ = 0;
  std::uint32_t psn_ = 0;
  std::uint32_t runs_ = 0;
};

World* world = nullptr;

}  // namespace

extern "C" int LLVMFuzzerInitialize(int*, char***) {
  enter_own_network();
  world = new World;  // its thread never ends
  return 0;
}

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  Input input(data, size);
  world->run(input);
  return 0;
}
