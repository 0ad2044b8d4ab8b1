// Agreement: what two processes make of a key that both have and of a random number of each: a
// proof that each shows the other, and a key for the frames that each sends afterwards. All of it
// depends on both numbers, on which side it is and on what the connection is about, so that nothing
// of it serves twice, for another connection, or towards the side that it came from.
//
//   const Agreement agreement(key, "gdr perf 5", {theirs.nonce, own.nonce});
//   if (!are_equal(theirs.proof, agreement.proof(Side::kClient))) refuse();
//   talk.seal(agreement, Side::kServer);     // process/conversation.h
#pragma once

#include <string_view>

#include "process/sha256.h"

namespace gdr::process {

using Nonce = std::array<std::uint8_t, 32>;
Nonce random_nonce();

// The client is the one that has connected, or whoever stands for it. It proves first, so that who
// only connects is shown nothing that a guess could be tried on.
enum class Side : std::uint8_t { kClient = 1, kServer = 2 };
constexpr Side other(Side side) { return side == Side::kClient ? Side::kServer : Side::kClient; }

struct Nonces {
  Nonce client{}, server{};
};

class Agreement {
 public:
  // `about`: whatever else both sides must see alike.
  Agreement(std::span<const std::uint8_t> key, std::string_view about, const Nonces& nonces);

  Digest proof(Side side) const;
  Digest frame_key(Side side) const;  // of what that side sends

 private:
  Digest derived(std::string_view purpose, Side side) const;

  Digest key_;
};

}  // namespace gdr::process
