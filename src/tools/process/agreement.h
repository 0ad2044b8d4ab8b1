// Agreement: what two processes make of a key that both have and of a random number of each: a
// proof that each shows the other, and a key for the frames that each sends afterwards. All of it
// depends on both numbers, on which side it is and on what the connection is about, so that nothing
// of it serves twice, for another connection, or towards the side that it came from. A weak key
// cannot be found by trying: process/cpace.h.
//
//   const Share own(key);
//   tell(own.point());
//   std::optional<Agreement> agreement = Agreement::make(own, theirs, Side::kServer, "gdr perf 6");
//   if (!agreement || !are_equal(proof, agreement->proof(Side::kClient))) refuse();
//   talk.seal(*agreement, Side::kServer);     // process/conversation.h
#pragma once

#include <string_view>

#include "process/cpace.h"
#include "process/hmac.h"

namespace gdr::process {

// One side's part in one connection.
class Share {
 public:
  // Of an empty key: one that everybody knows.
  explicit Share(std::span<const std::uint8_t> key) : half_(key, {}, {}, random_scalar()) {}
  const Point& point() const { return half_.point(); }

 private:
  friend class Agreement;
  Cpace half_;
};

class Agreement {
 public:
  // `about`: whatever else both sides must see alike. Nothing: what the other side has told is no
  // point.
  static std::optional<Agreement> make(const Share& own, const Point& theirs, Side self,
                                       std::string_view about);

  // The client shows its first: who has connected has tried its one guess by then.
  Digest proof(Side side) const;
  Digest frame_key(Side side) const;  // of what that side sends

 private:
  explicit Agreement(const CpaceKey& key) : key_(key) {}
  Digest derived(std::string_view purpose, Side side) const;

  CpaceKey key_;
};

}  // namespace gdr::process
