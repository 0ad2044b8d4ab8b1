// give_up: a benchmark that cannot measure what it says it measures ends with one line and status
// 1. The target process ends with it.
//
//   if (cq == nullptr) give_up("ibv_create_cq: {}", std::strerror(errno));
#pragma once

#include <fmt/format.h>

#include <string>

namespace gdr::bench {

[[noreturn]] void give_up_with(const std::string& message);

template <typename... Arguments>
[[noreturn]] void give_up(fmt::format_string<Arguments...> format, Arguments&&... arguments) {
  give_up_with(fmt::format(format, std::forward<Arguments>(arguments)...));
}

}  // namespace gdr::bench
