#include "link.h"

#include <fcntl.h>
#include <sched.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstdio>

#include "addresses.h"
#include "bad_wire.h"

namespace gdr::test {
namespace {

constexpr const char* kAddresses[] = {"10.0.0.1", "10.0.0.2"};
constexpr const char* kDevice = "link0";
constexpr useconds_t kLook = 20'000;
constexpr int kLooks = 500;

// `words` of ip(8), quietly.
void ip(const std::string& words) {
  require(std::system(("ip " + words + " >&2").c_str()) == 0, "ip " + words);
}

// A new network namespace. It is made by a child: this process stays where it is.
Result<UniqueFd> new_space() {
  UniqueFd space;
  int error = 0;
  Child child([](Wire& wire) {
    wire.send(unshare(CLONE_NEWNET) == 0 ? 0 : errno);
    (void)wire.receive<char>();
  });
  error = child.wire().receive<int>();
  if (error != 0) return Error{error, std::string("a network namespace: ") + strerror(error)};
  space.reset(
      open(("/proc/" + std::to_string(child.pid()) + "/ns/net").c_str(), O_RDONLY | O_CLOEXEC));
  child.wire().send('.');
  child.finish();
  if (!space) return from_errno("a network namespace");
  return space;
}

void enter_space(const UniqueFd& space) {
  require(setns(space.get(), CLONE_NEWNET) == 0, "a network namespace can be entered");
}

// Root of a user namespace may do with its network namespaces what root may. For good: the rest of
// the program goes on as that.
Result<void> become_root() {
  if (geteuid() == 0) return {};
  const uid_t user = geteuid();
  const gid_t group = getegid();
  if (unshare(CLONE_NEWUSER) != 0) return from_errno("a user namespace");
  const auto write = [](const char* path, const std::string& text) {
    const UniqueFd file(open(path, O_WRONLY | O_CLOEXEC));
    return file && ::write(file.get(), text.data(), text.size()) > 0;
  };
  if (!write("/proc/self/setgroups", "deny") ||
      !write("/proc/self/uid_map", "0 " + std::to_string(user) + " 1") ||
      !write("/proc/self/gid_map", "0 " + std::to_string(group) + " 1")) {
    return from_errno("a user namespace's users");
  }
  return {};
}

}  // namespace

Result<std::unique_ptr<Link>> Link::make(const LinkSettings& settings) {
  std::unique_ptr<Link> link(new Link);
  char folder[] = "/tmp/gdr-link-XXXXXX";
  if (mkdtemp(folder) == nullptr) return from_errno("a folder for counters");
  link->counters_ = std::string(folder) + "/";
  if (settings.kind == LinkKind::kLoopback) {
    link->addresses_ = {loopback_address(0), loopback_address(1)};
    return link;
  }
  link->addresses_ = {kAddresses[0], kAddresses[1]};
  if (std::system("ip -V >/dev/null 2>&1") != 0) {
    return Error{ENOENT, "ip is not installed (Debian: iproute2)"};
  }
  if (settings.kind == LinkKind::kBadWire && access("/dev/net/tun", R_OK | W_OK) != 0) {
    return from_errno("/dev/net/tun, which a link that spoils packets is made of");
  }
  if (Result<void> made = link->make_hosts(settings); !made) return made.error();
  return link;
}

Result<void> Link::make_hosts(const LinkSettings& settings) {
  if (Result<void> root = become_root(); !root) return root.error();
  for (UniqueFd& space : spaces_) {
    Result<UniqueFd> made = new_space();
    if (!made) return made.error();
    space = *std::move(made);
  }
  if (settings.kind == LinkKind::kVeth) {
    Child maker([&](Wire& wire) {
      // ip(8) names another namespace by a process in it.
      Child other([&](Wire& its) {
        enter_space(spaces_[1]);
        its.send('.');
        (void)its.receive<char>();
      });
      (void)other.wire().receive<char>();
      enter_space(spaces_[0]);
      ip(std::string("link add ") + kDevice + " type veth peer name " + kDevice + " netns " +
         std::to_string(other.pid()));
      other.wire().send('.');
      other.finish();
      wire.send('.');
    });
    (void)maker.wire().receive<char>();
    maker.finish();
  } else {
    const Result<net::Faults> faults = net::parse_faults(settings.faults);
    if (!faults) return faults.error();
    wire_ = std::make_unique<Child>([&](Wire& wire) {
      std::array<UniqueFd, 2> ends;
      for (std::size_t i = 0; i < 2; ++i) {
        enter_space(spaces_[i]);
        Result<UniqueFd> tun = open_tun(kDevice);
        require(static_cast<bool>(tun), tun ? "" : tun.error().message);
        ends[i] = *std::move(tun);
      }
      wire.send('.');
      BadWire(std::move(ends), *faults).run();
    });
    (void)wire_->wire().receive<char>();
  }
  for (int side = 0; side < 2; ++side) bring_up(side, kDevice, settings.mtu);
  if (settings.kind == LinkKind::kVeth) {
    for (int side = 0; side < 2; ++side) wait_until_up(side, kDevice);
  }
  return {};
}

// The kernel gives a device its queue some time after its link is up, on a busy machine a second;
// until then packets are lost, and nobody sends datagrams again.
void Link::wait_until_up(int side, const std::string& device) const {
  Child child([&](Wire&) {
    enter_space(spaces_[static_cast<std::size_t>(side)]);
    const std::string is_up = "ip -o link show " + device + " | grep -q 'state UP'";
    for (int i = 0; std::system(is_up.c_str()) != 0; ++i) {
      require(i < kLooks, device + " comes up");
      usleep(kLook);
    }
  });
  child.finish();
}

void Link::bring_up(int side, const std::string& device, int mtu) const {
  Child child([&](Wire&) {
    enter_space(spaces_[static_cast<std::size_t>(side)]);
    ip("link set lo up");
    // What is to be lost, the link loses, and not the queue in front of it.
    ip("link set " + device + " mtu " + std::to_string(mtu) + " txqueuelen 10000 up");
    ip("address add " + address(side) + "/24 dev " + device);
  });
  child.finish();
}

Link::~Link() {
  wire_.reset();
  for (const char* side : {"0", "1", ""}) std::remove((counters_ + side).c_str());
}

void Link::enter(int side) const {
  const UniqueFd& space = spaces_[static_cast<std::size_t>(side)];
  if (space) enter_space(space);
  setenv("GDR_SOFT_DEVICES", ("soft0/ip=" + address(side)).c_str(), 1);
  setenv("GDR_SOFT_COUNTERS", (counters_ + std::to_string(side)).c_str(), 1);
  setenv("GDR_SOFT_PATH", "packets", 1);
}

std::uint64_t Link::counted(int side, const std::string& name) const {
  const auto counts = read_counters(counters_ + std::to_string(side));
  require(static_cast<bool>(counts), counts ? "" : counts.error().message);
  for (const NamedCount& count : *counts) {
    if (count.name == name) return count.value;
  }
  throw Failure("no counter has the name " + name);
}

}  // namespace gdr::test
