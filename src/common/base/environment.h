// Reading environment variables and the numbers in them, strictly: the whole text or an error.
//
//   if (auto text = environment("GDR_SOFT_GPUS")) {
//     Result<std::uint64_t> count = parse_number(*text, 1, 64);
//   }
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"

namespace gdr {

// The variable's value; nothing when it is unset or empty.
std::optional<std::string> environment(const char* name);

// Decimal, or hexadecimal behind 0x; EINVAL for anything else, ERANGE outside [least, most].
Result<std::uint64_t> parse_number(std::string_view text, std::uint64_t least, std::uint64_t most);

// "a,b,,c" -> {"a", "b", "", "c"}; an empty text gives one empty part.
std::vector<std::string_view> split(std::string_view text, char separator);

// Without those characters at either end.
std::string_view trimmed(std::string_view text, std::string_view characters = " \t\r");

}  // namespace gdr
