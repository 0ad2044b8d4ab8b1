// SHA-256 (FIPS 180-4), HMAC over it (RFC 2104), and a key that takes many of them (RFC 8018), for
// secrets that two sides share. Ours since nothing else here needs a library of ciphers, whose name
// and version differ between the distributions that a portable tree is carried to. Cold.
//
//   Hmac hmac(key);
//   hmac.add(head), hmac.add(body);
//   if (!are_equal(hmac.end(), theirs)) ...
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>

namespace gdr::process {

using Digest = std::array<std::uint8_t, 32>;

class Sha256 {
 public:
  void add(std::span<const std::uint8_t> bytes);
  // Once.
  Digest end();

 private:
  static constexpr std::size_t kBlock = 64;
  // FIPS 180-4, 5.3.3: the first 32 bits of the fractions of the square roots of the first 8
  // primes.
  std::array<std::uint32_t, 8> state_ = {0x6a09e667, 0xbb67ae85, 0x3c6ef372, 0xa54ff53a,
                                         0x510e527f, 0x9b05688c, 0x1f83d9ab, 0x5be0cd19};
  std::array<std::uint8_t, kBlock> block_{};  // the last one, as far as it has come
  std::uint64_t size_ = 0;                    // of all that was added
};

// A copy made before the first add() goes on from the key without the work for it.
class Hmac {
 public:
  explicit Hmac(std::span<const std::uint8_t> key);
  void add(std::span<const std::uint8_t> bytes) { inner_.add(bytes); }
  void add(std::span<const std::byte> bytes) {
    inner_.add({reinterpret_cast<const std::uint8_t*>(bytes.data()), bytes.size()});
  }
  // Once.
  Digest end();

 private:
  Sha256 inner_, outer_;
};

Digest sha256(std::span<const std::uint8_t> text);

// PBKDF2 of RFC 8018, 5.2: whoever tries passwords does `rounds` HMACs for each, and for each salt
// anew.
Digest slow_key(std::span<const std::uint8_t> password, std::span<const std::uint8_t> salt,
                std::uint32_t rounds);

// Takes as long wherever they differ, so that nobody learns by trying how much of a guess was
// right.
bool are_equal(const Digest& one, const Digest& other);

}  // namespace gdr::process
