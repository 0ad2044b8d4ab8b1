// Two users on one host, both without privileges: a process of the second knows all that the first
// one's process would tell a peer, and neither attaches to it nor reads or writes its memory.
#include <dirent.h>
#include <fcntl.h>
#include <grp.h>
#include <gtest/gtest.h>
#include <poll.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <sys/un.h>
#include <unistd.h>

#include <array>
#include <cstddef>

#include "become.h"
#include "connection.h"
#include "rnic/shared.h"
#include "segments.h"

namespace gdr::test {
namespace {

constexpr uid_t kFirstAccount = 54'321, kSecondAccount = 54'322;
constexpr std::size_t kBytes = 64 << 10;
constexpr std::uint8_t kMark = 0x12;
constexpr Patience kShort = {.timeout = 10, .retry_count = 1};  // 4 ms, twice

// What the first user's process tells; a queue pair for each of the two attempts.
struct Told {
  std::array<Endpoint, 2> endpoints;
  Remote memory;
  pid_t pid;
};

struct QueuePairs {
  std::array<ibv_qp*, 2> pairs;
  std::array<Endpoint, 2> endpoints;
  explicit QueuePairs(Side& side) {
    for (std::size_t i = 0; i < pairs.size(); ++i) {
      pairs[i] = side.queue_pair(IBV_QPT_RC);
      endpoints[i] = side.endpoint(pairs[i]);
    }
  }
  void connect(Side& side, const std::array<Endpoint, 2>& to) const {
    for (std::size_t i = 0; i < pairs.size(); ++i) side.connect(pairs[i], to[i], kShort);
  }
};

void be_first(Wire& wire) {
  become(kFirstAccount);
  Side side;
  Memory& memory = side.memory(kBytes);
  memory.fill_pattern(1, 0, kBytes);
  const QueuePairs queue_pairs(side);
  wire.send(Told{queue_pairs.endpoints, memory.remote(), getpid()});
  queue_pairs.connect(side, wire.receive<std::array<Endpoint, 2>>());
  wire.meet();
  wire.meet();  // meanwhile the other one tries
  require(memory.first_not_pattern(1, 0, kBytes) == -1, "its memory is unchanged");
  pollfd event{side.context()->async_fd, POLLIN, 0};
  require(poll(&event, 1, 0) == 0, "its device raises no event");
  side.expect_quiet();
  for (ibv_qp* qp : queue_pairs.pairs) {
    ibv_qp_attr attr{};
    ibv_qp_init_attr init{};
    require(ibv_query_qp(qp, &attr, IBV_QP_STATE, &init) == 0 && attr.qp_state == IBV_QPS_RTS,
            "its queue pairs go on");
  }
}

void require_refused(const std::string& path, int flags) {
  const UniqueFd opened(open(path.c_str(), flags | O_CLOEXEC));
  require(!opened && errno == EACCES, path + " is refused");
}

void require_closed_in_proc(const Told& first) {
  const std::string folder = "/proc/" + std::to_string(first.pid);
  DIR* descriptors = opendir((folder + "/fd").c_str());
  require(descriptors == nullptr && errno == EACCES, "its descriptors are not listed");
  const UniqueFd pidfd(static_cast<int>(syscall(SYS_pidfd_open, first.pid, 0)));
  require(static_cast<bool>(pidfd), "it lives");
  for (int i = 0; i < 256; ++i) {
    require_refused(folder + "/fd/" + std::to_string(i), O_RDONLY);
    require_refused(folder + "/fd/" + std::to_string(i), O_RDWR);
    const UniqueFd copied(static_cast<int>(syscall(SYS_pidfd_getfd, pidfd.get(), i, 0)));
    require(!copied && errno == EPERM, "its descriptors cannot be copied");
  }
  require_refused(folder + "/mem", O_RDONLY);
  require_refused(folder + "/mem", O_RDWR);
  require_refused(folder + "/maps", O_RDONLY);
  std::uint8_t byte = kMark;
  iovec here{&byte, 1}, there{reinterpret_cast<void*>(first.memory.address), 1};
  require(process_vm_readv(first.pid, &here, 1, &there, 1, 0) == -1 && errno == EPERM,
          "its memory cannot be read");
  require(process_vm_writev(first.pid, &here, 1, &there, 1, 0) == -1 && errno == EPERM,
          "nor written");
}

// The first one's processes meet in a folder of their own.
void require_no_answer(std::uint32_t first_queue_pair) {
  require(segment_descriptors().size() == 1, "no process has been met");
  const std::uint32_t slot = rnic::slot_of_qp(first_queue_pair);
  const std::string folder = "/tmp/gdrkit-" + std::to_string(kFirstAccount);
  require(access(folder.c_str(), X_OK) != 0 && errno == EACCES, "its folder is closed");
  const UniqueFd connection(socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC | SOCK_NONBLOCK, 0));
  sockaddr_un name{};
  name.sun_family = AF_UNIX;
  struct stat network {};
  require(stat("/proc/self/ns/net", &network) == 0, "its network namespace has a number");
  const std::string path =
      folder + "/net-" + std::to_string(network.st_ino) + "/" + std::to_string(slot);
  path.copy(name.sun_path, sizeof name.sun_path - 1);
  require(connect(connection.get(), reinterpret_cast<const sockaddr*>(&name), sizeof name) != 0 &&
              errno == EACCES,
          "it cannot be called");
}

void be_second(Wire& wire) {
  become(kSecondAccount);
  Side side;
  Memory& own = side.memory(kBytes);
  own.fill(kMark);
  const QueuePairs queue_pairs(side);
  wire.send(queue_pairs.endpoints);
  const auto first = wire.receive<Told>();
  queue_pairs.connect(side, first.endpoints);
  wire.meet();
  side.write(queue_pairs.pairs[0], own, 0, 4096, first.memory);
  side.expect(IBV_WC_RETRY_EXC_ERR);
  side.read(queue_pairs.pairs[1], own, 0, 4096, first.memory);
  side.expect(IBV_WC_RETRY_EXC_ERR);
  require(own.first_not(kMark, 0, kBytes) == -1, "nothing was read");
  require_closed_in_proc(first);
  require_no_answer(first.endpoints[0].number);
  wire.meet();
}

// As root only: both users' processes must be startable.
class OtherUser : public testing::Test {
 protected:
  void SetUp() override {
    if (geteuid() != 0) GTEST_SKIP() << "needs root, to be two other users";
  }
};

TEST_F(OtherUser, NeitherAttachesNorReadsNorWritesThoughItKnowsEveryNumber) {
  Child first(be_first), second(be_second);
  first.wire().send(second.wire().receive<std::array<Endpoint, 2>>());
  second.wire().send(first.wire().receive<Told>());
  first.wire().meet();
  second.wire().meet();
  second.wire().meet();
  first.wire().meet();
  second.finish();
  first.finish();
}

}  // namespace
}  // namespace gdr::test
