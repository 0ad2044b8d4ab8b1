#include "process/sha256.h"

#include <algorithm>
#include <bit>

#include "base/bytes.h"

namespace gdr::process {
namespace {

using State = std::array<std::uint32_t, 8>;

// FIPS 180-4, 4.2.2: the first 32 bits of the fractions of the cube roots of the first 64 primes.
constexpr std::array<std::uint32_t, 64> kRound = {
    0x428a2f98, 0x71374491, 0xb5c0fbcf, 0xe9b5dba5, 0x3956c25b, 0x59f111f1, 0x923f82a4, 0xab1c5ed5,
    0xd807aa98, 0x12835b01, 0x243185be, 0x550c7dc3, 0x72be5d74, 0x80deb1fe, 0x9bdc06a7, 0xc19bf174,
    0xe49b69c1, 0xefbe4786, 0x0fc19dc6, 0x240ca1cc, 0x2de92c6f, 0x4a7484aa, 0x5cb0a9dc, 0x76f988da,
    0x983e5152, 0xa831c66d, 0xb00327c8, 0xbf597fc7, 0xc6e00bf3, 0xd5a79147, 0x06ca6351, 0x14292967,
    0x27b70a85, 0x2e1b2138, 0x4d2c6dfc, 0x53380d13, 0x650a7354, 0x766a0abb, 0x81c2c92e, 0x92722c85,
    0xa2bfe8a1, 0xa81a664b, 0xc24b8b70, 0xc76c51a3, 0xd192e819, 0xd6990624, 0xf40e3585, 0x106aa070,
    0x19a4c116, 0x1e376c08, 0x2748774c, 0x34b0bcb5, 0x391c0cb3, 0x4ed8aa4a, 0x5b9cca4f, 0x682e6ff3,
    0x748f82ee, 0x78a5636f, 0x84c87814, 0x8cc70208, 0x90befffa, 0xa4506ceb, 0xbef9a3f7, 0xc67178f2};
// 6.2.2, steps 1 to 4.
void add_block(State& state, const std::uint8_t* block) {
  std::array<std::uint32_t, 64> w;
  for (std::size_t i = 0; i < 16; ++i) {
    w[i] = load_be32(block + 4 * i);
  }
  for (std::size_t i = 16; i < 64; ++i) {
    const std::uint32_t s0 = std::rotr(w[i - 15], 7) ^ std::rotr(w[i - 15], 18) ^ (w[i - 15] >> 3);
    const std::uint32_t s1 = std::rotr(w[i - 2], 17) ^ std::rotr(w[i - 2], 19) ^ (w[i - 2] >> 10);
    w[i] = w[i - 16] + s0 + w[i - 7] + s1;
  }
  auto [a, b, c, d, e, f, g, h] = state;
  for (std::size_t i = 0; i < 64; ++i) {
    const std::uint32_t s1 = std::rotr(e, 6) ^ std::rotr(e, 11) ^ std::rotr(e, 25);
    const std::uint32_t t1 = h + s1 + ((e & f) ^ (~e & g)) + kRound[i] + w[i];
    const std::uint32_t s0 = std::rotr(a, 2) ^ std::rotr(a, 13) ^ std::rotr(a, 22);
    const std::uint32_t t2 = s0 + ((a & b) ^ (a & c) ^ (b & c));
    h = g, g = f, f = e, e = d + t1, d = c, c = b, b = a, a = t1 + t2;
  }
  const State added = {a, b, c, d, e, f, g, h};
  for (std::size_t i = 0; i < state.size(); ++i) state[i] += added[i];
}

}  // namespace

void Sha256::add(std::span<const std::uint8_t> bytes) {
  while (!bytes.empty()) {
    const std::size_t filled = size_ % kBlock;
    // Whole blocks are taken where they are.
    const bool is_whole = filled == 0 && bytes.size() >= kBlock;
    const std::size_t taken = std::min(bytes.size(), kBlock - filled);
    if (!is_whole) std::copy_n(bytes.begin(), taken, block_.begin() + filled);
    if (filled + taken == kBlock) add_block(state_, is_whole ? bytes.data() : block_.data());
    size_ += taken;
    bytes = bytes.subspan(taken);
  }
}

// 5.1.1: a one, zeros, and the length in bits, up to the end of a block.
Digest Sha256::end() {
  const std::uint64_t bits = size_ * 8;
  std::array<std::uint8_t, kBlock + 8> padding{0x80};
  const std::size_t zeros = (2 * kBlock - 9 - size_ % kBlock) % kBlock;
  for (std::size_t i = 0; i < 8; ++i) {
    padding[1 + zeros + i] = static_cast<std::uint8_t>(bits >> (56 - 8 * i));
  }
  add(std::span(padding).first(1 + zeros + 8));
  Digest digest;
  for (std::size_t i = 0; i < digest.size(); ++i) {
    digest[i] = static_cast<std::uint8_t>(state_[i / 4] >> (24 - 8 * (i % 4)));
  }
  return digest;
}

Hmac::Hmac(std::span<const std::uint8_t> key) {
  std::array<std::uint8_t, 64> padded{};  // to the size of a block
  const Digest shorter = key.size() > padded.size() ? sha256(key) : Digest{};
  if (key.size() > padded.size()) key = shorter;
  std::ranges::copy(key, padded.begin());
  for (std::uint8_t& byte : padded) byte ^= 0x36;
  inner_.add(padded);
  for (std::uint8_t& byte : padded) byte ^= 0x36 ^ 0x5c;
  outer_.add(padded);
}

Digest Hmac::end() {
  outer_.add(inner_.end());
  return outer_.end();
}

Digest sha256(std::span<const std::uint8_t> text) {
  Sha256 hash;
  hash.add(text);
  return hash.end();
}

// One block of output, so the block number is always 1.
Digest slow_key(std::span<const std::uint8_t> password, std::span<const std::uint8_t> salt,
                std::uint32_t rounds) {
  const Hmac keyed(password);
  Hmac first = keyed;
  first.add(salt);
  first.add(std::array<std::uint8_t, 4>{0, 0, 0, 1});
  Digest last = first.end(), key = last;
  for (std::uint32_t round = 1; round < rounds; ++round) {
    Hmac next = keyed;
    next.add(last);
    last = next.end();
    for (std::size_t i = 0; i < key.size(); ++i) key[i] ^= last[i];
  }
  return key;
}

bool are_equal(const Digest& one, const Digest& other) {
  // Volatile, or the compiler may end the loop where it knows the answer.
  volatile std::uint8_t difference = 0;
  for (std::size_t i = 0; i < one.size(); ++i) difference = difference | (one[i] ^ other[i]);
  return difference == 0;
}

}  // namespace gdr::process
