// Secret: a text that both sides know, from a file of their users' own. Neither says it, and what
// they prove to each other (process/agreement.h) is made of a key that is slow to compute from it:
// whoever has heard or provoked a proof and guesses texts pays for each guess.
//
//   Result<Secret> secret = Secret::read("/home/me/.gdr-secret");
//   const SaltedKey own = secret->salted();          // a server, once
//   const Digest key = secret->key(theirs.salt);     // a client
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "base/result.h"
#include "process/agreement.h"

namespace gdr::perf {

using process::Digest;
using process::Nonce;

struct SaltedKey {
  Nonce salt{};
  Digest key{};
};

class Secret {
 public:
  // EACCES: others may read the file, or it belongs to somebody else. EINVAL: too short, too long,
  // or always the same few characters. An end of line after the text is no part of it.
  static Result<Secret> read(const std::string& path);
  // Nothing, where no file was given.
  static Result<std::optional<Secret>> read_given(const std::optional<std::string>& path);

  // Takes 0.1 to 0.2 s of a processor.
  Digest key(std::span<const std::uint8_t> salt) const;
  // With a new salt.
  SaltedKey salted() const;

 private:
  explicit Secret(std::vector<std::uint8_t> text) : text_(std::move(text)) {}

  std::vector<std::uint8_t> text_;
};

}  // namespace gdr::perf
