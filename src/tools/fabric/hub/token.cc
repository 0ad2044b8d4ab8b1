#include "fabric/hub/token.h"

#include <span>
#include <vector>

#include "perf/sha256.h"

namespace gdr::fabric {

Proof prove_token(const std::string& token, const Nonce& nonce, std::uint32_t rank) {
  std::vector<std::uint8_t> text(nonce.begin(), nonce.end());
  for (int shift = 24; shift >= 0; shift -= 8) {
    text.push_back(static_cast<std::uint8_t>(rank >> shift));
  }
  const auto* key = reinterpret_cast<const std::uint8_t*>(token.data());
  return perf::hmac_sha256(std::span(key, token.size()), text);
}

bool is_right(const Proof& proof, const std::string& token, const Nonce& nonce,
              std::uint32_t rank) {
  return perf::are_equal(proof, prove_token(token, nonce, rank));
}

}  // namespace gdr::fabric
