#include "perf/unreachable.h"

#include <arpa/inet.h>
#include <fmt/format.h>

#include <cerrno>

namespace gdr::perf {
namespace {

// As the software NIC's devices have it by default: it works within one host alone.
bool is_loopback(const std::string& gid) { return gid.starts_with("::ffff:127.") || gid == "::1"; }

std::string address_in(const std::string& gid) {
  constexpr std::string_view kMapped = "::ffff:";
  return gid.starts_with(kMapped) ? gid.substr(kMapped.size()) : gid;
}

}  // namespace

std::string text_of_gid(std::span<const std::uint8_t, 16> gid) {
  char text[INET6_ADDRSTRLEN] = "";
  inet_ntop(AF_INET6, gid.data(), text, sizeof text);
  return text;
}

Error unreachable(const Port& far, const std::string& nic, const std::string& gid) {
  const bool here = is_loopback(gid), there = is_loopback(far.gid);
  if (!here && !there) {
    return Error{EHOSTUNREACH,
                 fmt::format("nothing that the server's {} sends reaches {} here (GID {}): their "
                             "networks are not joined, or something between blocks RDMA (RoCE: UDP "
                             "port 4791)",
                             far.nic, nic, gid)};
  }
  return Error{EHOSTUNREACH,
               fmt::format("{} has the loopback address {}{}, which no other host reaches; give it "
                           "one of its host's, on both hosts, before you start gdr: export "
                           "GDR_SOFT_DEVICES={}/ip=ADDRESS",
                           here ? nic : "the server's " + far.nic, address_in(here ? gid : far.gid),
                           here ? " here" : "", here ? nic : far.nic)};
}

}  // namespace gdr::perf
