// Link: what lies between the two sides of a test whose bytes go by packets, each side a process of
// its own:
//
//   Result<std::unique_ptr<Link>> link = Link::make({.kind = LinkKind::kVeth, .mtu = 4200});
//   if (!link) GTEST_SKIP() << link.error().message;
//   ... in the process of that side, before it opens a device:
//   (*link)->enter(0);
//
// Afterwards the link tells what was counted. Namespaces have no names and are gone with the last
// process in them.
#pragma once

#include <array>
#include <memory>
#include <string>
#include <vector>

#include "base/counter_file.h"
#include "process.h"

namespace gdr::test {

enum class LinkKind {
  kLoopback,  // one host, two addresses
  kVeth,      // two network namespaces
  kBadWire,   // the same, through bad_wire.h
};

struct LinkSettings {
  LinkKind kind = LinkKind::kLoopback;
  int mtu = 1500;
  std::string faults = {};  // of a bad wire: net::Faults
};

class Link {
 public:
  // An error: this machine or this user may not have such a link, and why.
  static Result<std::unique_ptr<Link>> make(const LinkSettings& settings);
  ~Link();

  // The calling process is that side from now on: its network, and what the software NIC finds in
  // its environment. Throws Failure.
  void enter(int side) const;
  const std::string& address(int side) const { return addresses_[static_cast<std::size_t>(side)]; }
  // Sum over all processes of that side so far. Throws Failure.
  std::uint64_t counted(int side, const std::string& name) const;

 private:
  Link() = default;
  Result<void> make_hosts(const LinkSettings& settings);
  void bring_up(int side, const std::string& device, int mtu) const;
  void wait_until_up(int side, const std::string& device) const;

  std::string counters_;  // where each side counts, but for its number
  std::array<std::string, 2> addresses_;
  std::array<UniqueFd, 2> spaces_;  // network namespaces; none: the one that is there
  std::unique_ptr<Child> wire_;
};

}  // namespace gdr::test
