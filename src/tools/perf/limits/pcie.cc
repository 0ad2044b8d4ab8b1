#include "perf/limits/pcie.h"

namespace gdr::perf {
namespace {

constexpr double kSpeeds[] = {2.5, 5, 8, 16, 32, 64, 128};  // of generation 1 and on
constexpr unsigned kUsualPayload = 512;
constexpr double kWriteOverhead = 24, kCompletionOverhead = 20;

double encoding_of(unsigned generation) {
  if (generation <= 2) return 8.0 / 10;
  if (generation <= 5) return 128.0 / 130;
  return 236.0 / 256;
}

}  // namespace

unsigned pcie_generation(double gigatransfers) {
  unsigned generation = 0;
  for (double speed : kSpeeds) {
    ++generation;
    if (gigatransfers == speed) return generation;
  }
  return 0;
}

double pcie_bytes_per_second(double gigatransfers, unsigned width, unsigned max_payload,
                             PcieTraffic traffic) {
  const unsigned generation = pcie_generation(gigatransfers);
  if (generation == 0 || width == 0) return 0;
  const double payload = max_payload == 0 ? kUsualPayload : max_payload;
  const double overhead = traffic == PcieTraffic::kWrites ? kWriteOverhead : kCompletionOverhead;
  return gigatransfers * 1e9 * width * encoding_of(generation) / 8 * payload / (payload + overhead);
}

std::string pcie_text(double gigatransfers, unsigned width) {
  return "gen " + std::to_string(pcie_generation(gigatransfers)) + " x" + std::to_string(width);
}

}  // namespace gdr::perf
