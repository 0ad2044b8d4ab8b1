// What gzip, xz or zstd packed, such as the files of kernel modules, unpacked in memory.
//
//   const Unpacked module = unpack(bytes, 512 << 20);
//   if (module.problem.empty()) use(module.bytes);
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

namespace gdr::host {

enum class Packing { kNone, kGzip, kXz, kZstd };
// By the first bytes.
Packing packing_of(std::string_view bytes);

struct Unpacked {
  std::string bytes;    // to the damage or the bound where there is a problem
  std::string problem;  // for a sentence about the file: "is damaged"; empty: it is whole
};
// At most `most` bytes. Bytes that nothing packed are handed through as they are.
Unpacked unpack(std::string packed, std::size_t most);

}  // namespace gdr::host
