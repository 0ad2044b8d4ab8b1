// Other accounts of the same host, and floods: what they send within the host changes nothing, ends
// no connection, keeps no process awake, and slows little down.
#include <fcntl.h>
#include <grp.h>
#include <gtest/gtest.h>
#include <net/if.h>
#include <sched.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/ioctl.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include <array>
#include <cstdio>

#include "addresses.h"
#include "base/clock.h"
#include "base/counter_file.h"
#include "become.h"
#include "forger.h"
#include "net/socket_address.h"
#include "processor_time.h"

namespace gdr::test {
namespace {

constexpr uid_t kVictim = 54'331, kAttacker = 54'332;
constexpr std::size_t kBytes = 64 << 10;
constexpr std::uint8_t kUntouched = 0x5a;
constexpr std::uint32_t kSwept = 1000;  // PSNs
constexpr int kRounds = 100;

void use_device(const std::string& address, const std::string& counters) {
  setenv("GDR_SOFT_DEVICES", ("soft0/ip=" + address).c_str(), 1);
  setenv("GDR_SOFT_COUNTERS", counters.c_str(), 1);
  setenv("GDR_SOFT_PATH", "packets", 1);
}

// Chosen before the test forks, because each process would choose others.
std::array<std::string, 3> addresses_here() {
  return {loopback_address(0), loopback_address(1), loopback_address(2)};
}

// Counters of a test's two sides, which processes of another user write.
class Folder {
 public:
  Folder() {
    require(mkdtemp(path_) != nullptr && chmod(path_, 0777) == 0, "a folder for counters");
  }
  ~Folder() {
    for (int side = 0; side < 2; ++side) std::remove(of(side).c_str());
    rmdir(path_);
  }
  std::string of(int side) const { return std::string(path_) + "/" + std::to_string(side); }
  std::uint64_t counted(int side, const std::string& name) const {
    const auto counts = read_counters(of(side));
    require(static_cast<bool>(counts), counts ? "" : counts.error().message);
    for (const NamedCount& count : *counts) {
      if (count.name == name) return count.value;
    }
    throw Failure("no counter has the name " + name);
  }

 private:
  char path_[32] = "/tmp/gdr-strangers-XXXXXX";
};

class OtherAccount : public testing::Test {
 protected:
  void SetUp() override {
    if (geteuid() != 0) GTEST_SKIP() << "needs root, to be two accounts";
  }
  static void be_victim(Wire& wire, int side, const std::string& address, const Folder& folder) {
    use_device(address, folder.of(side));
    become(kVictim);
    Side own;
    Memory& memory = own.memory(kBytes);
    memory.fill(kUntouched);
    ibv_qp* qp = own.queue_pair(IBV_QPT_RC);
    const Told told{own.endpoint(qp), memory.remote()};
    wire.send(told);
    const Told other = wire.receive<Told>();
    own.connect(qp, other.endpoint);
    wire.meet();
    // The attacker sweeps.
    wire.meet();
    require(memory.first_not(kUntouched, 0, kBytes) == -1, "no forged packet changes memory");
    wire.meet();
    // It sweeps on while both sides write, each into a part of the other's memory.
    const std::size_t mine = side == 0 ? 0 : kBytes / 8;
    for (int round = 0; round < kRounds; ++round) {
      memory.fill_pattern(static_cast<std::uint64_t>(round), kBytes / 4 + mine, kBytes / 8);
      own.write(qp, memory, kBytes / 4 + mine, kBytes / 8, other.remote, mine);
      own.expect(IBV_WC_SUCCESS);
    }
    wire.meet();
    const std::size_t others = kBytes / 8 - mine;
    require(memory.first_not_pattern(kRounds - 1, others, kBytes / 8) == -1,
            "what was acknowledged has arrived");
    require(memory.first_not(kUntouched, kBytes / 2, kBytes / 2) == -1, "and nothing else");
    wire.meet();
  }
};

TEST_F(OtherAccount, ThatForgesPacketsOfAPeerNeitherEndsNorChangesAConnection) {
  const Folder folder;
  const auto here = addresses_here();
  Child first([&](Wire& wire) { be_victim(wire, 0, here[0], folder); });
  Child second([&](Wire& wire) { be_victim(wire, 1, here[1], folder); });
  // It knows all numbers, and binds port 4791 of an address that nobody has.
  Child attacker([&](Wire& wire) {
    become(kAttacker);
    const auto told = wire.receive<std::array<Told, 2>>();
    const wire::Address addresses[] = {mapped(here[0]), mapped(here[1])};
    Forger same_port(mapped(here[2]), wire::kRocePort);
    Forger other_port(mapped(here[2]), 0);
    for (const int side : {0, 1}) {
      for (Forger* forger : {&same_port, &other_port}) {
        sweep(*forger, addresses[1 - side], addresses[side], told[static_cast<std::size_t>(side)],
              kSwept);
      }
    }
    usleep(100'000);
    wire.meet();
    const Nanoseconds end = now() + kSecond;
    while (now() < end) {
      for (const int side : {0, 1}) {
        sweep(same_port, addresses[1 - side], addresses[side], told[static_cast<std::size_t>(side)],
              20);
      }
      usleep(1000);
    }
    wire.meet();
  });
  const std::array<Told, 2> told = {first.wire().receive<Told>(), second.wire().receive<Told>()};
  first.wire().send(told[1]);
  second.wire().send(told[0]);
  // Neither goes on before both have come.
  const auto meet_both = [&] {
    for (Child* each : {&first, &second}) (void)each->wire().receive<char>();
    for (Child* each : {&first, &second}) each->wire().send('m');
  };
  meet_both();
  attacker.wire().send(told);
  attacker.wire().meet();
  for (int step = 0; step < 4; ++step) meet_both();
  attacker.wire().meet();
  for (Child* each : {&attacker, &first, &second}) each->finish();
  for (const int side : {0, 1}) {
    EXPECT_GT(folder.counted(side, "wrong_source_port"), 0u);
    EXPECT_EQ(folder.counted(side, "remote_access_refused"), 0u);
  }
}

void bring_loopback_up() {
  ifreq request{};
  request.ifr_flags = IFF_UP;
  std::strcpy(request.ifr_name, "lo");
  const UniqueFd any(socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0));
  require(ioctl(any.get(), SIOCSIFFLAGS, &request) == 0, "the loopback is up");
}

wire::Address ipv6(const char* text) {
  wire::Address address{};
  require(inet_pton(AF_INET6, text, address.data()) == 1, "an address");
  return address;
}

// With IPv6 an account may send in the name of any address at all.
TEST_F(OtherAccount, CannotForgeAnotherHostByIpv6) {
  if (access("/proc/net/if_inet6", R_OK) != 0) GTEST_SKIP() << "the kernel has no IPv6";
  const Folder folder;
  const wire::Address here = ipv6("::1"), beyond = ipv6("2001:db8::7");
  Child victim([&](Wire& wire) {
    require(unshare(CLONE_NEWNET) == 0, "a network namespace");
    bring_loopback_up();
    use_device("::1", folder.of(0));
    Side side;
    Memory& memory = side.memory(kBytes);
    memory.fill(kUntouched);
    ibv_qp* qp = side.queue_pair(IBV_QPT_RC);
    wire.send(Told{side.endpoint(qp), memory.remote()});
    Endpoint peer{0x123456, {}};
    std::memcpy(peer.gid.raw, beyond.data(), beyond.size());
    side.connect(qp, peer);
    wire.meet();
    wire.meet();
    require(memory.first_not(kUntouched, 0, kBytes) == -1, "no forged packet changes memory");
    wire.meet();
  });
  const auto told = victim.wire().receive<Told>();
  victim.wire().meet();
  Child attacker([&](Wire& wire) {
    const UniqueFd space(
        open(("/proc/" + std::to_string(victim.pid()) + "/ns/net").c_str(), O_RDONLY | O_CLOEXEC));
    require(setns(space.get(), CLONE_NEWNET) == 0, "the victim's network");
    become(kAttacker);
    Forger forger(beyond, wire::kRocePort);
    sweep(forger, beyond, here, told, 20);
    usleep(100'000);
    wire.meet();
  });
  attacker.wire().meet();
  victim.wire().meet();
  victim.wire().meet();
  attacker.finish();
  victim.finish();
}

// The ports of this process's UDP sockets.
std::vector<std::uint16_t> own_ports() {
  std::vector<std::uint16_t> ports;
  for (int descriptor = 3; descriptor < 256; ++descriptor) {
    net::SocketAddress own;
    own.length = sizeof own.storage;
    int type = 0;
    socklen_t length = sizeof type;
    if (getsockopt(descriptor, SOL_SOCKET, SO_TYPE, &type, &length) == 0 && type == SOCK_DGRAM &&
        getsockname(descriptor, own.get(), &own.length) == 0 && own.get()->sa_family == AF_INET) {
      ports.push_back(net::port_of(*own.get()));
    }
  }
  return ports;
}

TEST(Strangers, DatagramsToASleepingProcessCostItNothingOnceTheyAreRead) {
  const Folder folder;
  const auto here = addresses_here();
  Child host([&](Wire& wire) {
    use_device(here[0], folder.of(0));
    Side side;
    ibv_qp* qp = side.queue_pair(IBV_QPT_RC);
    side.connect(qp, raw_endpoint(here[1]));
    const std::vector<std::uint16_t> ports = own_ports();
    wire.send(ports.size());
    for (const std::uint16_t port : ports) wire.send(port);
    wire.meet();
    usleep(50'000);
    const Nanoseconds before = processor_time();
    sleep(1);
    const Nanoseconds used = processor_time() - before;
    require(used < 30 * kMillisecond,
            "it sleeps: used " + std::to_string(used) + " ns of a second");
    wire.meet();
  });
  const auto count = host.wire().receive<std::size_t>();
  ASSERT_GE(count, 2u);
  const UniqueFd stranger(socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0));
  for (std::size_t i = 0; i < count; ++i) {
    const auto port = host.wire().receive<std::uint16_t>();
    const net::SocketAddress to = net::socket_address(mapped(here[0]), port);
    for (const std::size_t bytes : {std::size_t{1}, std::size_t{0}, std::size_t{100}}) {
      const Bytes datagram(bytes);
      ASSERT_GE(sendto(stranger.get(), datagram.data(), bytes, 0, to.get(), to.length), 0);
    }
  }
  host.wire().meet();
  host.wire().meet();
  host.finish();
}

// At that rate, or as near to it as this machine gets: garbage, and what looks like packets for
// queue pairs that nobody has.
constexpr std::uint64_t kFloodRate = 130'000;  // datagrams a second

[[noreturn]] void flood(const wire::Address& to) {
  const UniqueFd socket(::socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0));
  const net::SocketAddress target = net::socket_address(to, wire::kRocePort);
  std::array<Bytes, 64> garbage;
  for (std::size_t n = 0; n < garbage.size(); ++n) {
    const bool looks_right = n % 2 == 0;
    const std::size_t bytes = looks_right ? 1024 : 256;
    for (std::size_t i = 0; i < bytes; ++i) garbage[n].push_back(std::byte{pattern(n, i)});
    if (!looks_right) continue;
    wire::Packet packet =
        request_packet(wire::Transport::kReliableConnection, wire::Operation::kWriteMiddle, 0, 0);
    packet.destination_qp = pattern(n, 1) << 16 | pattern(n, 2) << 8 | pattern(n, 3);
    wire::write_headers(packet, garbage[n].data());
  }
  const Nanoseconds begin = now();
  std::uint64_t sent = 0;
  while (true) {
    const std::uint64_t due = (now() - begin) * kFloodRate / kSecond;
    for (int n = 0; n < 64 && sent < due; ++n, ++sent) {
      const Bytes& datagram = garbage[sent % garbage.size()];
      (void)sendto(socket.get(), datagram.data(), datagram.size(), MSG_DONTWAIT, target.get(),
                   target.length);
    }
    if (sent >= due) usleep(100);
  }
}

// An account without privilege gets the socket buffer that everybody gets.
void be_ordinary() {
  if (geteuid() == 0) become(kVictim);
}

TEST(Strangers, AFloodIsDroppedUnreadAndConnectionsGoOn) {
  constexpr int kWrites = 200;
  const Folder folder;
  const auto here = addresses_here();
  Child target([&](Wire& wire) {
    use_device(here[0], folder.of(0));
    be_ordinary();
    Side side;
    Memory& memory = side.memory(kBytes);
    ibv_qp* qp = side.queue_pair(IBV_QPT_RC);
    wire.send(Told{side.endpoint(qp), memory.remote()});
    side.connect(qp, wire.receive<Endpoint>());
    wire.meet();
    wire.meet();
  });
  Child flooder([&](Wire& wire) {
    wire.meet();
    flood(mapped(here[0]));
  });
  Child writer([&](Wire& wire) {
    use_device(here[1], folder.of(1));
    be_ordinary();
    Side side;
    Memory& memory = side.memory(kBytes);
    ibv_qp* qp = side.queue_pair(IBV_QPT_RC);
    wire.send(side.endpoint(qp));
    const Told told = wire.receive<Told>();
    side.connect(qp, told.endpoint);
    wire.meet();
    wire.meet();  // the flood is on
    for (int i = 0; i < kWrites; ++i) {
      side.write(qp, memory, 0, kBytes, told.remote);
      side.expect(IBV_WC_SUCCESS);
    }
    wire.meet();
  });
  const auto told = target.wire().receive<Told>();
  const auto endpoint = writer.wire().receive<Endpoint>();
  target.wire().send(endpoint);
  writer.wire().send(told);
  target.wire().meet();
  writer.wire().meet();
  flooder.wire().meet();
  const auto dropped = [&] { return folder.counted(0, "dropped_by_filter"); };
  EXPECT_TRUE(soon([&] { return dropped() > kFloodRate / 10; }));
  writer.wire().meet();
  writer.wire().meet();
  flooder.kill();
  target.wire().meet();
  target.finish();
  writer.finish();
  const std::uint64_t read =
      folder.counted(0, "malformed") + folder.counted(0, "unknown_queue_pair");
  EXPECT_LT(read, dropped() / 4);
}

}  // namespace
}  // namespace gdr::test
