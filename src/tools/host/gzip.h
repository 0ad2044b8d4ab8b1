// Text that gzip packed, as the kernel's own configuration is in /proc/config.gz.
//
//   if (is_gzip(bytes)) bytes = unpack_gzip(bytes, 1 << 20);
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

namespace gdr::host {

bool is_gzip(std::string_view bytes);

// At most `most` bytes. What is damaged ends where the damage begins; empty where this host has no
// libarchive.
std::string unpack_gzip(std::string_view packed, std::size_t most);

}  // namespace gdr::host
