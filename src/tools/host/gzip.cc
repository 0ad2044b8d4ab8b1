#include "host/gzip.h"

#include "host/packed.h"

namespace gdr::host {

bool is_gzip(std::string_view bytes) { return packing_of(bytes) == Packing::kGzip; }

std::string unpack_gzip(std::string_view packed, std::size_t most) {
  if (!is_gzip(packed)) return {};
  return unpack(std::string(packed), most).bytes;
}

}  // namespace gdr::host
