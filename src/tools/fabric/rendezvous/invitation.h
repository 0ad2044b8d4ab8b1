// Invitation: where rank 0's collector listens, and what those who come have to know.
//
//   Invitation invitation{own_addresses(), port, random_token()};
//   const std::string text = to_text(invitation);          // one line, for a launcher to carry
//   Result<Invitation> same = invitation_from(text);
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"

namespace gdr::fabric {

struct Invitation {
  std::vector<std::string> addresses;  // numbers, or names; the likeliest first
  std::uint16_t port = 0;
  std::string token;  // no spaces; empty: whoever comes is let in
  bool operator==(const Invitation&) const = default;
};

std::string to_text(const Invitation& invitation);
// EPROTO: another version of this program wrote it, or none did.
Result<Invitation> invitation_from(std::string_view text);

// 128 unpredictable bits as hexadecimal digits.
std::string random_token();

// This host's addresses that other hosts may reach: of interfaces that are up, without loopback and
// addresses of one link; those of IPv4 first.
std::vector<std::string> own_addresses();

}  // namespace gdr::fabric
