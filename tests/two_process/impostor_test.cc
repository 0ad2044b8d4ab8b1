// Processes that look like this account's and are not: of accounts that a user namespace does not
// tell apart, of another container, with fewer rights; and accounts that stand in the way.
#include <fcntl.h>
#include <grp.h>
#include <gtest/gtest.h>
#include <linux/capability.h>
#include <sched.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstddef>
#include <cstdlib>
#include <ctime>
#include <filesystem>

#include "base/clock.h"
#include "become.h"
#include "connection.h"
#include "processor_time.h"
#include "segments.h"

namespace gdr::test {
namespace {

constexpr std::size_t kBytes = 4096;
constexpr Patience kShort = {.timeout = 10, .retry_count = 1};  // 4 ms, twice

struct Start {
  Endpoint endpoint;
  Remote remote;
};

// Writes into the other one's memory; whether that went well is as it should be.
void take_part(Wire& wire, const std::function<void()>& prepare, ibv_wc_status expected) {
  prepare();
  Side side;
  Memory& memory = side.memory(kBytes);
  memory.fill(0x11);
  ibv_qp* qp = side.queue_pair(IBV_QPT_RC);
  wire.send(Start{side.endpoint(qp), memory.remote()});
  const auto other = wire.receive<Start>();
  side.connect(qp, other.endpoint, expected == IBV_WC_SUCCESS ? Patience{} : kShort);
  wire.meet();
  side.write(qp, memory, 0, kBytes, other.remote);
  const ibv_wc_status status = side.completion().status;
  require(status == expected, std::string("the write ends with ") + ibv_wc_status_str(status));
  const std::size_t met = segment_descriptors().size() - 1;
  require(met == (expected == IBV_WC_SUCCESS ? 1 : 0), std::to_string(met) + " processes are met");
  wire.send('d');
  wire.receive<char>();  // its memory is there until the other one has written
}

// Both begin together, and none ends before the other is done.
void accompany(Child& one, Child& other) {
  one.wire().send(other.wire().receive<Start>());
  other.wire().send(one.wire().receive<Start>());
  for (Child* child : {&one, &other}) child->wire().meet();
  for (Child* child : {&one, &other}) (void)child->wire().receive<char>();
  for (Child* child : {&one, &other}) child->wire().send('e');
  one.finish();
  other.finish();
}

void check_both_ways(const std::function<void()>& first, const std::function<void()>& second,
                     ibv_wc_status expected) {
  Child one([&](Wire& wire) { take_part(wire, first, expected); });
  Child other([&](Wire& wire) { take_part(wire, second, expected); });
  accompany(one, other);
}

// A process in a chroot is permitted none, not even as root.
bool a_user_namespace_can_be_had() {
  const pid_t child = fork();
  if (child == 0) _exit(unshare(CLONE_NEWUSER) == 0 ? 0 : 1);
  int status = 1;
  return child > 0 && waitpid(child, &status, 0) == child && status == 0;
}

class Impostors : public testing::Test {
 protected:
  void SetUp() override {
    if (geteuid() != 0) GTEST_SKIP() << "needs root, to be other accounts";
    if (!enter_network_of_its_own()) GTEST_SKIP() << "no network namespace can be had here";
  }
};

// Both have the overflow account's number there.
TEST_F(Impostors, AccountsUnknownToAUserNamespaceAreRefused) {
  if (!a_user_namespace_can_be_had()) GTEST_SKIP() << "no user namespace can be had here";
  const auto unknown = [](uid_t user) {
    return [user] {
      become(user);
      require(unshare(CLONE_NEWUSER) == 0, "a user namespace without accounts");
      require(geteuid() == 65534, "it looks like the overflow account");
    };
  };
  check_both_ways(unknown(54'341), unknown(54'342), IBV_WC_RETRY_EXC_ERR);
}

// The control of the one above: one account in user namespaces that know it.
TEST_F(Impostors, OfOneAccountInOneUserNamespaceAreMet) {
  const auto same = [] { become(54'343); };
  check_both_ways(same, same, IBV_WC_SUCCESS);
}

// root with every right, and root of a container with few of them: the kernel lets the second debug
// neither the first nor hand anything to it.
TEST_F(Impostors, WithFewerRightsOfTheSameAccountAreNotMet) {
  const auto all = [] {};
  const auto few = [] {
    __user_cap_header_struct header{_LINUX_CAPABILITY_VERSION_3, 0};
    __user_cap_data_struct data[2]{};
    require(syscall(SYS_capset, &header, data) == 0, "rights are given up");
    require(prctl(PR_SET_DUMPABLE, 1) == 0, "a process like others");
  };
  check_both_ways(all, few, IBV_WC_RETRY_EXC_ERR);
  check_both_ways(few, few, IBV_WC_SUCCESS);
}

// Containers of one pod: the network is one, processes are not seen from each other.
TEST_F(Impostors, OfAnotherProcessNamespaceAreNotMet) {
  Child one([](Wire& wire) {
    take_part(
        wire, [] {}, IBV_WC_RETRY_EXC_ERR);
  });
  Child other([](Wire& wire) {
    require(unshare(CLONE_NEWPID) == 0, "a process namespace");
    Child inside([&](Wire&) {
      take_part(
          wire, [] {}, IBV_WC_RETRY_EXC_ERR);
    });
    inside.finish();
    require(!testing::Test::HasFailure(), "the process inside ends well");
  });
  accompany(one, other);
}

// Every abstract name of `victim`, each with a queue of calls that is full.
void stand_in_the_way(uid_t victim, std::vector<UniqueFd>* sockets) {
  rlimit many{8192, 8192};
  require(setrlimit(RLIMIT_NOFILE, &many) == 0, "many descriptors");
  for (std::uint32_t slot = 1; slot < rnic::kSlots; ++slot) {
    sockaddr_un name{};
    name.sun_family = AF_UNIX;
    const std::string text = "gdrkit-rnic-" + std::to_string(victim) + "-" + std::to_string(slot);
    text.copy(name.sun_path + 1, text.size());
    const auto length = static_cast<socklen_t>(offsetof(sockaddr_un, sun_path) + 1 + text.size());
    sockets->emplace_back(socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0));
    const auto* address = reinterpret_cast<const sockaddr*>(&name);
    require(bind(sockets->back().get(), address, length) == 0, "the name is free");
    require(listen(sockets->back().get(), 0) == 0, "listens");
    for (int caller = 0; caller < 3; ++caller) {
      sockets->emplace_back(socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC | SOCK_NONBLOCK, 0));
      (void)connect(sockets->back().get(), address, length);
    }
  }
}

void check_with_names_taken(uid_t victim, const std::function<void()>& prepare) {
  Child other([&](Wire& wire) {
    std::vector<UniqueFd> sockets;
    become(54'399);
    stand_in_the_way(victim, &sockets);
    wire.meet();
    wire.receive<char>();
  });
  other.wire().meet();
  const Nanoseconds start = now();
  check_both_ways(prepare, prepare, IBV_WC_SUCCESS);
  EXPECT_LT(now() - start, 30 * kSecond);
  other.wire().send('e');
  other.finish();
}

TEST_F(Impostors, TakingAllPublicNamesDelaysNobody) {
  check_with_names_taken(54'344, [] { become(54'344); });
}

// Also where they have made the folder in /tmp before its owner could.
TEST_F(Impostors, TakingAllNamesAndTheTmpFolderDoesNotDelayUsersWithARuntimeFolder) {
  const std::filesystem::path taken = "/tmp/gdrkit-54345";
  std::filesystem::remove_all(taken);
  ASSERT_EQ(mkdir(taken.c_str(), 0777), 0);
  ASSERT_EQ(chown(taken.c_str(), 54'399, 54'399), 0);
  char folder[] = "/tmp/runtime-XXXXXX";
  ASSERT_NE(mkdtemp(folder), nullptr);
  ASSERT_EQ(chown(folder, 54'345, 54'345), 0);
  check_with_names_taken(54'345, [&] {
    become(54'345);
    setenv("XDG_RUNTIME_DIR", folder, 1);
  });
  EXPECT_FALSE(std::filesystem::exists(taken / "lock")) << "nothing is put into others' folders";
  std::filesystem::remove_all(folder);
  std::filesystem::remove_all(taken);
}

// Somebody calls while no descriptor is left to take the call.
TEST(Descriptors, AFullTableCostsNoProcessorTimeAndTheCallerIsMetOnceThereIsRoom) {
  Child full([](Wire& wire) {
    Side side;
    Memory& memory = side.memory(kBytes);
    ibv_qp* qp = side.queue_pair(IBV_QPT_RC);
    rlimit before{};
    require(getrlimit(RLIMIT_NOFILE, &before) == 0, "a limit");
    const int next = dup(0);
    close(next);
    rlimit none = before;
    none.rlim_cur = static_cast<rlim_t>(next);
    require(setrlimit(RLIMIT_NOFILE, &none) == 0, "no descriptor is left");
    wire.send(Start{side.endpoint(qp), memory.remote()});
    const auto other = wire.receive<Start>();
    const Nanoseconds before_it = processor_time();
    usleep(1'000'000);  // the other one calls at its start
    const Nanoseconds used = processor_time() - before_it;
    require(used < 200 * kMillisecond, "it sleeps, and used " + std::to_string(used) + " ns");
    require(setrlimit(RLIMIT_NOFILE, &before) == 0, "there is room again");
    side.connect(qp, other.endpoint);
    wire.meet();
    wire.meet();
  });
  const auto start = full.wire().receive<Start>();
  Child caller([&](Wire& wire) {
    Side side;
    Memory& memory = side.memory(kBytes);
    ibv_qp* qp = side.queue_pair(IBV_QPT_RC);
    wire.send(Start{side.endpoint(qp), memory.remote()});
    wire.meet();
    side.connect(qp, start.endpoint);
    side.write(qp, memory, 0, 64, start.remote);
    side.expect(IBV_WC_SUCCESS);
  });
  full.wire().send(caller.wire().receive<Start>());
  full.wire().meet();
  caller.wire().meet();
  caller.finish();
  full.wire().meet();
  full.finish();
}

}  // namespace
}  // namespace gdr::test
