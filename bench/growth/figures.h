// Figures of one count, printed as a line of JSON for growth.py.
//
//   Figures figures("queue-pairs", 256);
//   figures.add("create_us", 1e6 * seconds);
//   figures.print();
#pragma once

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <cstdio>
#include <string>
#include <vector>

namespace gdr::bench {

class Figures {
 public:
  Figures(const char* what, std::uint32_t count)
      : line_(fmt::format("{{\"what\": \"{}\", \"count\": {}", what, count)) {}
  void add(const char* name, double value) {
    line_ += fmt::format(", \"{}\": {:.6g}", name, value);
  }
  void print() const {
    fmt::print("{}}}\n", line_);
    std::fflush(stdout);
  }

 private:
  std::string line_;
};

template <typename Call>
double seconds_of(Call&& call) {
  const auto begin = std::chrono::steady_clock::now();
  call();
  return std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
}

// The median of what `times` calls return: one that the machine disturbed does not count.
template <typename Call>
double median_of(std::uint32_t times, Call&& call) {
  std::vector<double> each(times);
  for (std::uint32_t i = 0; i < times; ++i) each[i] = call(i);
  std::ranges::nth_element(each, each.begin() + times / 2);
  return each[times / 2];
}

// Each call timed by itself.
template <typename Call>
double median_seconds(std::uint32_t times, Call&& call) {
  return median_of(times, [&](std::uint32_t i) { return seconds_of([&] { call(i); }); });
}

// Seconds of one of `count` things that are done `batch` at a time: the median of sixteen parts, so
// that one in which the machine was busy with something else does not count.
template <typename Call>
double median_of_parts(std::uint32_t count, std::uint32_t batch, Call&& call) {
  constexpr std::uint32_t kParts = 16;
  const std::uint32_t batches = count / batch, of_part = std::max(batches / kParts, 1u);
  std::vector<double> parts;
  std::uint32_t at = 0;
  while (at < batches) {
    const std::uint32_t end = std::min(at + of_part, batches);
    const double seconds = seconds_of([&] {
      for (std::uint32_t i = at; i < end; ++i) call(i * batch);
    });
    parts.push_back(seconds / ((end - at) * batch));
    at = end;
  }
  std::ranges::nth_element(parts, parts.begin() + static_cast<long>(parts.size() / 2));
  return parts[parts.size() / 2];
}

}  // namespace gdr::bench
