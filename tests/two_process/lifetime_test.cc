// exec and fork in the target, and what is left of a process that died.
#include <dirent.h>
#include <gtest/gtest.h>
#include <signal.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <fstream>
#include <set>

#include "base/clock.h"
#include "connection.h"
#include "segments.h"

namespace gdr::test {
namespace {

constexpr Nanoseconds kBound = 20 * kSecond;

TEST(Lifetime, ATargetThatCalledExecIsGone) {
  Child child([](Wire& wire) {
    be_target(wire, {}, [](TargetSide t) {
      t.wire.meet();
      execl("/bin/sleep", "sleep", "20", nullptr);
    });
  });
  Side side;
  Memory& memory = side.memory(4096);
  ibv_qp* qp = side.queue_pair(IBV_QPT_RC);
  const Remote remote = connect_to_target(side, qp, child.wire());
  side.write(qp, memory, 0, 64, remote);
  side.expect(IBV_WC_SUCCESS);
  child.wire().meet();
  EXPECT_THROW(child.wire().receive<char>(), Failure);  // closed by the exec
  const Nanoseconds start = now();
  side.write(qp, memory, 0, 64, remote);
  side.expect(IBV_WC_RETRY_EXC_ERR);
  EXPECT_LT(now() - start, kBound);
}

TEST(Lifetime, ATargetThatForkedStaysItselfAndItsDeathIsSeen) {
  Child child([](Wire& wire) {
    be_target(wire, {}, [](TargetSide t) {
      t.memory.fill(0x33);
      int ready[2];
      require(pipe(ready) == 0, "pipe");
      const pid_t grandchild = fork();
      if (grandchild == 0) {
        alarm(600);
        char one = 0;
        while (read(ready[0], &one, 1) < 0) continue;
        _exit(t.memory.first_not(0x33, 0, t.memory.size()) == -1 ? 0 : 1);
      }
      t.wire.send(grandchild);
      t.wire.meet();
      t.wire.meet();
      require(t.memory.first_not_pattern(2, 0, 4096) == -1, "the parent has the bytes");
      require(write(ready[1], "x", 1) == 1, "asked");
      int status = 1;
      require(waitpid(grandchild, &status, 0) == grandchild && status == 0,
              "the child's copy is as it was");
      const pid_t other = fork();  // this one outlives the target
      if (other == 0) {
        alarm(600);
        pause();
        _exit(0);
      }
      t.wire.send(other);
      t.wire.receive<char>();
    });
  });
  Side side;
  Memory& memory = side.memory(4096);
  memory.fill_pattern(2, 0, 4096);
  ibv_qp* qp = side.queue_pair(IBV_QPT_RC);
  const Remote remote = connect_to_target(side, qp, child.wire());
  (void)child.wire().receive<pid_t>();
  child.wire().meet();
  side.write(qp, memory, 0, 4096, remote);
  side.expect(IBV_WC_SUCCESS);
  child.wire().meet();
  const auto other = child.wire().receive<pid_t>();
  child.kill();
  const Nanoseconds start = now();
  side.write(qp, memory, 0, 4096, remote);
  const ibv_wc completion = side.completion();
  EXPECT_EQ(::kill(other, 0), 0);  // it was alive all the time
  ::kill(other, SIGKILL);
  EXPECT_EQ(completion.status, IBV_WC_RETRY_EXC_ERR);
  EXPECT_LT(now() - start, kBound);
}

TEST(Lifetime, AChildOfAnInitiatorOpensADeviceOfItsOwn) {
  Child child([](Wire& wire) {
    be_target(wire, {}, [](TargetSide t) { t.wire.meet(); });
    be_target(wire, {}, [](TargetSide t) {
      t.memory.fill(0);
      t.wire.meet();
      t.wire.meet();
      require(t.memory.first_not_pattern(3, 0, 4096) == -1, "the child's bytes");
    });
  });
  Side side;
  connect_to_target(side, side.queue_pair(IBV_QPT_RC), child.wire());
  child.wire().meet();
  Child forked([&](Wire&) {
    Side own;
    Memory& memory = own.memory(4096);
    memory.fill_pattern(3, 0, 4096);
    ibv_qp* qp = own.queue_pair(IBV_QPT_RC);
    const Remote remote = connect_to_target(own, qp, child.wire());
    child.wire().meet();
    own.write(qp, memory, 0, 4096, remote);
    own.expect(IBV_WC_SUCCESS);
    child.wire().meet();
  });
  forked.finish();
  child.finish();
}

// The name of the socket at which that process is called; empty: there is none.
std::string socket_of(std::uint32_t qp_number) {
  struct stat network {};
  require(stat("/proc/self/ns/net", &network) == 0, "the network namespace has a number");
  const std::string end =
      "/net-" + std::to_string(network.st_ino) + "/" + std::to_string(rnic::slot_of_qp(qp_number));
  std::ifstream sockets("/proc/net/unix");
  for (std::string line; std::getline(sockets, line);) {
    if (line.ends_with(end)) return line.substr(line.find('/'));
  }
  return {};
}

// Folders there are other tests', which keep their machines in memory.
std::set<std::string> files_of_gdr(const char* path) {
  std::set<std::string> names;
  DIR* folder = opendir(path);
  if (folder == nullptr) return names;
  while (const dirent* entry = readdir(folder)) {
    const std::string name = entry->d_name;
    if (entry->d_type == DT_DIR) continue;
    if (name.find("gdr") != std::string::npos || name.find("rnic") != std::string::npos) {
      names.insert(name);
    }
  }
  closedir(folder);
  return names;
}

TEST(Lifetime, AKilledProcessLeavesNothingButAnEmptyFileThatTheNextOneRemoves) {
  const auto files = files_of_gdr("/dev/shm");
  Child child([](Wire& wire) {
    be_target(wire, {}, [](TargetSide t) {
      t.wire.meet();
      t.wire.receive<char>();
    });
  });
  std::string name;
  std::uint32_t number = 0;
  {
    Side side;
    ibv_qp* qp = side.queue_pair(IBV_QPT_RC);
    Endpoint target{};
    connect_to_target(side, qp, child.wire(), {}, &target);
    child.wire().meet();
    number = target.number;
    name = socket_of(number);
    EXPECT_FALSE(name.empty());
    EXPECT_EQ(files_of_gdr("/dev/shm"), files);
    child.kill();
  }
  EXPECT_EQ(socket_of(number), "");
  EXPECT_EQ(files_of_gdr("/dev/shm"), files);
  Child next([](Wire&) { const Side side; });
  next.finish();
  EXPECT_NE(access(name.c_str(), F_OK), 0) << name;
}

// It died while it was asking for copies: nobody else could ask if its places stayed taken.
TEST(Lifetime, AnInitiatorThatDiedFreesThePlacesItHadTakenInTheTargetsTable) {
  Child child([](Wire& wire) {
    Side side;
    ibv_qp* qp = side.queue_pair(IBV_QPT_RC);
    const auto target = wire.receive<Endpoint>();
    side.connect(qp, target);
    const rnic::Token own = header_of(segment_of(qp->qp_num)).token;
    rnic::ServiceRequest* places = service_requests_of(segment_of(target.number));
    for (std::uint32_t i = 0; i < rnic::kServiceRequests; ++i) {
      places[i].word.store(rnic::service_word(own, rnic::ServiceState::kWriting));
    }
    wire.meet();
    wire.receive<char>();
  });
  Side side;
  ibv_qp* qp = side.queue_pair(IBV_QPT_RC);
  child.wire().send(side.endpoint(qp));
  child.wire().meet();
  rnic::ServiceRequest* places = service_requests_of(segment_of(qp->qp_num));
  const auto taken = [&] {
    return std::count_if(places, places + rnic::kServiceRequests,
                         [](const auto& place) { return place.word.load() != 0; });
  };
  EXPECT_EQ(taken(), std::ptrdiff_t{rnic::kServiceRequests});
  child.kill();
  EXPECT_TRUE(soon([&] { return taken() == 0; }));
}

}  // namespace
}  // namespace gdr::test
