#include "process/hmac.h"

#include <sodium/utils.h>

namespace gdr::process {

Hmac::Hmac(std::span<const std::uint8_t> key) {
  crypto_auth_hmacsha256_init(&state_, key.data(), key.size());
}

void Hmac::add(std::span<const std::uint8_t> bytes) {
  crypto_auth_hmacsha256_update(&state_, bytes.data(), bytes.size());
}

Digest Hmac::end() {
  Digest digest;
  crypto_auth_hmacsha256_final(&state_, digest.data());
  return digest;
}

bool are_equal(const Digest& one, const Digest& other) {
  return sodium_memcmp(one.data(), other.data(), one.size()) == 0;
}

}  // namespace gdr::process
