// Time that transfers take.
//
//   const double seconds = seconds_of_each(count, [&] { move(count); });
#pragma once

#include <chrono>

namespace gdr::bench {

using Clock = std::chrono::steady_clock;

// Time of one of the `count` transfers that the call makes.
template <typename Call>
double seconds_of_each(int count, Call&& call) {
  const auto begin = Clock::now();
  call();
  return std::chrono::duration<double>(Clock::now() - begin).count() / count;
}

}  // namespace gdr::bench
