// How time and memory grow with the number of queue pairs, processes, registrations and connections
// by packets: bench/README.md. Prints a line of JSON for each count; growth.py draws them.
#include <charconv>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <optional>
#include <string_view>
#include <vector>

#include "curves.h"
#include "link.h"

namespace {

constexpr char kUsage[] =
    "bench_growth: CURVE COUNT[,COUNT...], where CURVE is queue-pairs, connections, registrations, "
    "gpu-registrations or processes, and 'quick' behind it for fewer transfers; for example: "
    "bench_growth queue-pairs 1,16,256\n";

std::optional<std::uint32_t> number_in(std::string_view text) {
  std::uint32_t number = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (error != std::errc() || end != text.data() + text.size() || number == 0) return std::nullopt;
  return number;
}

// Nothing: some part of it is no count.
std::optional<std::vector<std::uint32_t>> counts_in(std::string_view list) {
  std::vector<std::uint32_t> counts;
  while (true) {
    const std::size_t comma = list.find(',');
    const auto count = number_in(list.substr(0, comma));
    if (!count) return std::nullopt;
    counts.push_back(*count);
    if (comma == std::string_view::npos) return counts;
    list.remove_prefix(comma + 1);
  }
}

}  // namespace

int main(int argc, char** argv) {
  using namespace gdr::bench;
  const std::string_view curve = argc >= 3 ? argv[1] : "";
  if (curve == "target") return run_target(Socket(std::atoi(argv[2])));
  if (curve == "member") return run_member(Socket(std::atoi(argv[2])));
  const bool is_quick = argc == 4 && std::string_view(argv[3]) == "quick";
  const auto counts = argc == 3 || is_quick ? counts_in(argv[2]) : std::nullopt;
  const Effort effort = is_quick ? Effort::kQuick : Effort::kFull;
  if (counts && curve == "queue-pairs") {
    measure_queue_pairs("queue-pairs", *counts, effort);
  } else if (counts && curve == "connections") {
    setenv("GDR_SOFT_PATH", "packets", 1);
    measure_queue_pairs("connections", *counts, effort);
  } else if (counts && curve == "registrations") {
    measure_registrations("registrations", *counts, SliceMemory::kHost);
  } else if (counts && curve == "gpu-registrations") {
    measure_registrations("gpu-registrations", *counts, SliceMemory::kGpu);
  } else if (counts && curve == "processes") {
    measure_processes(*counts);
  } else {
    std::fputs(kUsage, stderr);
    return 2;
  }
  return 0;
}
