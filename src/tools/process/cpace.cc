#include "process/cpace.h"

#include <sodium/core.h>
#include <sodium/crypto_core_ristretto255.h>
#include <sodium/crypto_hash_sha512.h>
#include <sodium/crypto_scalarmult_ristretto255.h>

#include <algorithm>
#include <cstring>
#include <string>

#include "base/random.h"

namespace gdr::process {
namespace {

static_assert(sizeof(Point) == crypto_core_ristretto255_BYTES);
static_assert(sizeof(Scalar) == crypto_core_ristretto255_SCALARBYTES);
static_assert(sizeof(CpaceKey) == crypto_hash_sha512_BYTES);
static_assert(crypto_hash_sha512_BYTES == crypto_core_ristretto255_HASHBYTES);

constexpr std::size_t kHashBlock = 128;
constexpr std::string_view kDomain = "CPaceRistretto255";

std::string_view text_of(std::span<const std::uint8_t> bytes) {
  return {reinterpret_cast<const char*>(bytes.data()), bytes.size()};
}

// With its length in front, seven bits to a byte (LEB128).
std::string measured(std::string_view text) {
  std::string all;
  std::size_t length = text.size();
  for (; length >= 0x80; length >>= 7) all += static_cast<char>((length & 0x7f) | 0x80);
  all += static_cast<char>(length);
  return all.append(text);
}

CpaceKey hash_of(const std::string& text) {
  CpaceKey hash;
  crypto_hash_sha512(hash.data(), reinterpret_cast<const unsigned char*>(text.data()), text.size());
  return hash;
}

// The secret fills the first block with what is before it, so that hashing takes as long for each.
Point generator_of(std::string_view secret, std::string_view channel, std::string_view session) {
  const std::string domain = measured(kDomain), password = measured(secret);
  const std::size_t used = 1 + domain.size() + password.size();
  const std::string padding(kHashBlock - std::min(used, kHashBlock), '\0');
  const CpaceKey hash =
      hash_of(domain + password + measured(padding) + measured(channel) + measured(session));
  Point generator;
  crypto_core_ristretto255_from_hash(generator.data(), hash.data());
  return generator;
}

}  // namespace

Scalar random_scalar() {
  std::array<std::uint8_t, crypto_core_ristretto255_NONREDUCEDSCALARBYTES> wide;
  for (std::size_t at = 0; at < wide.size(); at += sizeof(std::uint64_t)) {
    const std::uint64_t value = random_u64();
    std::memcpy(wide.data() + at, &value, sizeof value);
  }
  Scalar scalar;
  crypto_core_ristretto255_scalar_reduce(scalar.data(), wide.data());
  return scalar;
}

Cpace::Cpace(std::span<const std::uint8_t> secret, std::string_view channel,
             std::string_view session, const Scalar& own)
    : scalar_(own), session_(session) {
  [[maybe_unused]] static const int ready = sodium_init();
  const Point generator = generator_of(text_of(secret), channel, session);
  // It fails for the neutral point alone, which neither a hash nor a random scalar makes; the other
  // side takes none.
  if (crypto_scalarmult_ristretto255(point_.data(), scalar_.data(), generator.data()) != 0) {
    point_ = {};
  }
}

std::optional<CpaceKey> Cpace::key_with(const Point& theirs, Side self,
                                        const std::array<std::string_view, 2>& about) const {
  Point met;
  if (crypto_scalarmult_ristretto255(met.data(), scalar_.data(), theirs.data()) != 0) {
    return std::nullopt;
  }
  const bool initiates = self == Side::kClient;
  const std::string_view own = text_of(point_), other = text_of(theirs);
  return hash_of(measured(std::string(kDomain) + "_ISK") + measured(session_) +
                 measured(text_of(met)) + measured(initiates ? own : other) + measured(about[0]) +
                 measured(initiates ? other : own) + measured(about[1]));
}

}  // namespace gdr::process
