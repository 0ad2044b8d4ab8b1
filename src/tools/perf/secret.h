// Secret: a text that client and server of `gdr perf` both know, from a file of their users' own.
// Each proves to the other that it knows it, and neither says it: HMAC-SHA256 over two random
// numbers, one of either side, and over which side it is, so that no answer serves twice and none
// can be sent back to the side that it came from.
//
//   Result<Secret> secret = Secret::read("/home/me/.gdr-secret");
//   const Digest proof = secret->proof(Secret::Side::kClient, numbers);
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "base/result.h"
#include "perf/sha256.h"

namespace gdr::perf {

using Nonce = std::array<std::uint8_t, 32>;
Nonce random_nonce();

class Secret {
 public:
  enum class Side : std::uint8_t { kClient = 1, kServer = 2 };
  struct Nonces {
    Nonce client{}, server{};
  };

  // EACCES: others may read the file, or it belongs to somebody else. EINVAL: too short, too long.
  // An end of line after the text is no part of it.
  static Result<Secret> read(const std::string& path);
  // Nothing, where no file was given.
  static Result<std::optional<Secret>> read_given(const std::optional<std::string>& path);

  Digest proof(Side side, const Nonces& nonces) const;

 private:
  explicit Secret(std::vector<std::uint8_t> text) : text_(std::move(text)) {}

  std::vector<std::uint8_t> text_;
};

}  // namespace gdr::perf
