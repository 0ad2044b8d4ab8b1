// CPace: two processes that know the same secret, a password perhaps, make a strong key of it and
// of a random number of each (draft-irtf-cfrg-cpace-13, over ristretto255 with SHA-512). Who
// listens learns nothing that a guess at the secret could be tried on, and who takes part can try
// one guess each time. Points and scalars are libsodium's. Cold: a tenth of a millisecond.
//
//   const Cpace own(secret, {}, {}, random_scalar());
//   tell(own.point());
//   std::optional<CpaceKey> key = own.key_with(theirs, Side::kClient, about);
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>

namespace gdr::process {

// The client is the one that has connected, or whoever stands for it: the draft's initiator, A.
enum class Side : std::uint8_t { kClient = 1, kServer = 2 };
constexpr Side other(Side side) { return side == Side::kClient ? Side::kServer : Side::kClient; }

using Scalar = std::array<std::uint8_t, 32>;
using Point = std::array<std::uint8_t, 32>;  // as it is told
using CpaceKey = std::array<std::uint8_t, 64>;

Scalar random_scalar();

class Cpace {
 public:
  // `channel` and `session`: the draft's CI and sid, the same on both sides.
  Cpace(std::span<const std::uint8_t> secret, std::string_view channel, std::string_view session,
        const Scalar& own);

  const Point& point() const { return point_; }
  // The draft's ISK. `about`: what each side says of itself, in the order of the sides. Nothing:
  // theirs is no point of the group, or its neutral one.
  std::optional<CpaceKey> key_with(const Point& theirs, Side self,
                                   const std::array<std::string_view, 2>& about) const;

 private:
  Scalar scalar_;
  Point point_{};
  std::string session_;
};

}  // namespace gdr::process
