// The text of a counter's file, and putting it in place: a reader sees the old text or the new one,
// never a part of either.
//
//   write_value(port_folder, "counters/port_xmit_data", 42);
//
// In any thread and signal handler, also between fork() and exec(): by system calls of its own.
#pragma once

#include <cstddef>
#include <cstdint>

namespace gdr::ports {

constexpr std::size_t kMostValueText = 24;
// Decimal, and a new line, as the kernel writes it; not ended by a 0. How many characters.
std::size_t value_text(std::uint64_t value, char (&text)[kMostValueText]);

// `folder`: a descriptor of ports/1; `file`: from there. False: it is as it was.
bool write_value(int folder, const char* file, std::uint64_t value);

}  // namespace gdr::ports
