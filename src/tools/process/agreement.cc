#include "process/agreement.h"

namespace gdr::process {

std::optional<Agreement> Agreement::make(const Share& own, const Point& theirs, Side self,
                                         std::string_view about) {
  const std::optional<CpaceKey> key = own.half_.key_with(theirs, self, {about, about});
  if (!key) return std::nullopt;
  return Agreement(*key);
}

Digest Agreement::derived(std::string_view purpose, Side side) const {
  Hmac hmac(key_);
  hmac.add(purpose);
  hmac.add(std::array{static_cast<std::uint8_t>(side)});
  return hmac.end();
}

Digest Agreement::proof(Side side) const { return derived("proof", side); }
Digest Agreement::frame_key(Side side) const { return derived("frame", side); }

}  // namespace gdr::process
