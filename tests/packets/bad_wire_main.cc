// bad_wire PID PID FAULTS: a tun device wire0, down, in the network namespace of each process, with
// net::Faults between them. Says "ready" when both are there, and runs until it is killed.
#include <fcntl.h>
#include <sched.h>

#include <cstdio>

#include "bad_wire.h"

namespace {

gdr::Result<gdr::UniqueFd> end_in(const char* pid) {
  const std::string path = std::string("/proc/") + pid + "/ns/net";
  const gdr::UniqueFd space(open(path.c_str(), O_RDONLY | O_CLOEXEC));
  if (!space || setns(space.get(), CLONE_NEWNET) != 0) return gdr::from_errno(path);
  return gdr::test::open_tun("wire0");
}

int fail(const gdr::Error& error) {
  std::fprintf(stderr, "bad_wire: %s\n", error.message.c_str());
  return 1;
}

}  // namespace

int main(int argc, char** argv) {
  if (argc != 4) return fail({EINVAL, "usage: bad_wire PID PID FAULTS"});
  const auto faults = gdr::net::parse_faults(argv[3]);
  if (!faults) return fail(faults.error());
  auto one = end_in(argv[1]), other = end_in(argv[2]);
  if (!one) return fail(one.error());
  if (!other) return fail(other.error());
  std::puts("ready");
  std::fflush(stdout);
  gdr::test::BadWire({*std::move(one), *std::move(other)}, *faults).run();
}
