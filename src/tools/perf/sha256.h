// SHA-256 (FIPS 180-4) and HMAC over it (RFC 2104), for the secret that two sides share. Ours since
// nothing else here needs a library of ciphers, whose name and version differ between the
// distributions that a portable tree is carried to. Cold.
//
//   const Digest proof = hmac_sha256(key, text);
//   if (!are_equal(proof, theirs)) ...
#pragma once

#include <array>
#include <cstdint>
#include <span>

namespace gdr::perf {

using Digest = std::array<std::uint8_t, 32>;

Digest sha256(std::span<const std::uint8_t> text);
Digest hmac_sha256(std::span<const std::uint8_t> key, std::span<const std::uint8_t> text);

// Takes as long wherever they differ, so that nobody learns by trying how much of a guess was
// right.
bool are_equal(const Digest& one, const Digest& other);

}  // namespace gdr::perf
