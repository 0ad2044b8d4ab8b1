#include "process/agreement.h"

#include <cstring>

#include "base/bytes.h"
#include "base/random.h"

namespace gdr::process {
namespace {

std::span<const std::uint8_t> bytes_of(std::string_view text) {
  return {reinterpret_cast<const std::uint8_t*>(text.data()), text.size()};
}

}  // namespace

Nonce random_nonce() {
  Nonce nonce;
  for (std::size_t at = 0; at < nonce.size(); at += sizeof(std::uint64_t)) {
    const std::uint64_t value = random_u64();
    std::memcpy(nonce.data() + at, &value, sizeof value);
  }
  return nonce;
}

// Only `about` has no length of its own.
Agreement::Agreement(std::span<const std::uint8_t> key, std::string_view about,
                     const Nonces& nonces) {
  Hmac hmac(key);
  std::array<std::uint8_t, 4> length;
  store_be32(length.data(), static_cast<std::uint32_t>(about.size()));
  hmac.add(length);
  hmac.add(bytes_of(about));
  hmac.add(nonces.client);
  hmac.add(nonces.server);
  key_ = hmac.end();
}

Digest Agreement::derived(std::string_view purpose, Side side) const {
  Hmac hmac(key_);
  hmac.add(bytes_of(purpose));
  hmac.add(std::array{static_cast<std::uint8_t>(side)});
  return hmac.end();
}

Digest Agreement::proof(Side side) const { return derived("proof", side); }
Digest Agreement::frame_key(Side side) const { return derived("frame", side); }

}  // namespace gdr::process
