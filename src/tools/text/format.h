// Text for a person: columns, amounts, and what others sent made fit to be shown.
//
//   pad_left(plural(2, "row"), 10)  // "    2 rows"
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "base/printable.h"

namespace gdr::text {

// With spaces behind or in front, until it is `columns` wide on a screen.
std::string pad(std::string text, std::size_t columns);
std::string pad_left(const std::string& text, std::size_t columns);

// With two spaces between them, which text::wrap keeps fields apart by; empty ones are left out.
std::string join(const std::vector<std::string>& parts);

// "1 row", "2 rows".
std::string plural(std::uint64_t count, const std::string& noun);

// Amounts of memory: "512 B", "64 MiB", "1.5 GiB".
std::string size_text(std::uint64_t bytes);

}  // namespace gdr::text
