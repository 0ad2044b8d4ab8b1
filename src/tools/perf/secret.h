// Secret: a text that both sides know, from a file of their users' own. Neither says it, and
// nothing that they say serves to find it by trying (process/agreement.h).
//
//   Result<Secret> secret = Secret::read("/home/me/.gdr-secret");
//   const process::Share own(secret->key_for("gdr perf"));
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
using process::Point;

class Secret {
 public:
  // EACCES: others may read the file, or it belongs to somebody else. EINVAL: too short, too long,
  // or always the same few characters. An end of line after the text is no part of it.
  static Result<Secret> read(const std::string& path);
  // Nothing, where no file was given.
  static Result<std::optional<Secret>> read_given(const std::optional<std::string>& path);

  Digest key_for(std::string_view purpose) const;

 private:
  explicit Secret(std::vector<std::uint8_t> text) : text_(std::move(text)) {}

  std::vector<std::uint8_t> text_;
};

}  // namespace gdr::perf
