#include "fabric/rendezvous/invitation.h"

#include <arpa/inet.h>
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>

#include "base/environment.h"
#include "base/interface_addresses.h"
#include "base/random.h"

namespace gdr::fabric {
namespace {

constexpr std::string_view kForm = "gdrf1";  // changes with the form of the line
constexpr std::string_view kNoToken = "-";

}  // namespace

std::string to_text(const Invitation& invitation) {
  return fmt::format("{} {} {} {}", kForm, invitation.port,
                     invitation.token.empty() ? kNoToken : std::string_view(invitation.token),
                     fmt::join(invitation.addresses, ","));
}

Result<Invitation> invitation_from(std::string_view text) {
  const Error stranger{EPROTO,
                       "rank 0 published no invitation that this version of gdr can read; start "
                       "the same gdr on all hosts"};
  const std::vector<std::string_view> words = split(text, ' ');
  if (words.size() != 4 || words[0] != kForm || words[2].empty()) return stranger;
  const Result<std::uint64_t> port = parse_number(words[1], 1, 65535);
  if (!port) return stranger;
  Invitation invitation;
  invitation.port = static_cast<std::uint16_t>(*port);
  if (words[2] != kNoToken) invitation.token = words[2];
  for (const std::string_view address : split(words[3], ',')) {
    if (address.empty()) return stranger;
    invitation.addresses.emplace_back(address);
  }
  return invitation;
}

std::string random_token() { return fmt::format("{:016x}{:016x}", random_u64(), random_u64()); }

std::vector<std::string> own_addresses() {
  std::vector<std::string> four, six;
  for (const InterfaceAddress& entry : interface_addresses()) {
    if (!entry.is_up || entry.is_loopback) continue;
    in6_addr address{};
    std::ranges::copy(entry.address, address.s6_addr);
    char text[INET6_ADDRSTRLEN] = "";
    if (IN6_IS_ADDR_V4MAPPED(&address)) {
      const bool is_of_one_link = entry.address[12] == 169 && entry.address[13] == 254;
      if (!is_of_one_link) {
        four.emplace_back(inet_ntop(AF_INET, entry.address.data() + 12, text, sizeof text));
      }
    } else if (!IN6_IS_ADDR_LINKLOCAL(&address)) {
      six.emplace_back(inet_ntop(AF_INET6, &address, text, sizeof text));
    }
  }
  four.insert(four.end(), six.begin(), six.end());
  return four;
}

}  // namespace gdr::fabric
