// HMAC-SHA256 (RFC 2104), by libsodium. Cold.
//
//   Hmac hmac(key);
//   hmac.add(head), hmac.add(body);
//   if (!are_equal(hmac.end(), theirs)) ...
#pragma once

#include <sodium/crypto_auth_hmacsha256.h>

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>

namespace gdr::process {

using Digest = std::array<std::uint8_t, crypto_auth_hmacsha256_BYTES>;

// A copy made before the first add() goes on from the key without the work for it.
class Hmac {
 public:
  explicit Hmac(std::span<const std::uint8_t> key);
  void add(std::span<const std::uint8_t> bytes);
  void add(std::span<const std::byte> bytes) {
    add({reinterpret_cast<const std::uint8_t*>(bytes.data()), bytes.size()});
  }
  void add(std::string_view text) { add(std::as_bytes(std::span(text))); }
  // Once.
  Digest end();

 private:
  crypto_auth_hmacsha256_state state_;
};

// Takes as long wherever they differ, so that nobody learns by trying how much of a guess was
// right.
bool are_equal(const Digest& one, const Digest& other);

}  // namespace gdr::process
