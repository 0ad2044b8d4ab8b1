// Token: what the processes of one run know and nobody else: a random text that the launcher's
// rendezvous carries, or the content of a file of the user's. A member shows that it knows it by
// HMAC-SHA256 over the collector's nonce, and over its rank, so that no answer serves for another.
//
//   const Proof proof = prove_token(token, welcome.nonce, rank);
#pragma once

#include <cstdint>
#include <string>

#include "perf/secret.h"

namespace gdr::fabric {

using perf::Nonce;
using perf::random_nonce;
using Proof = perf::Digest;

// An empty token is known to everybody.
Proof prove_token(const std::string& token, const Nonce& nonce, std::uint32_t rank);
bool is_right(const Proof& proof, const std::string& token, const Nonce& nonce, std::uint32_t rank);

}  // namespace gdr::fabric
