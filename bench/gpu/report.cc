#include "report.h"

#include <cstdio>
#include <string>

#include "../rounds.h"

namespace gdr::bench {
namespace {

struct Ratio {
  double median, low, high;
};

struct Claim {
  const char* text;
  double target;
  CaseId measured, other;
};

// How many times as fast as the other.
Ratio speed_ratio(const std::vector<double>& measured, const std::vector<double>& other) {
  std::vector<double> ratios;
  for (std::size_t i = 0; i < measured.size(); ++i) ratios.push_back(other[i] / measured[i]);
  return {quantile(ratios, 0.5), quantile(ratios, 0.1), quantile(ratios, 0.9)};
}

std::string size_text(std::size_t bytes) {
  if (bytes % (1 << 20) == 0) return std::to_string(bytes >> 20) + " MiB";
  if (bytes % (1 << 10) == 0) return std::to_string(bytes >> 10) + " KiB";
  return std::to_string(bytes) + " B";
}

CaseId better_staged(const Samples& samples) {
  const auto& overlapping = samples[kStagedOverlapping];
  if (overlapping.empty()) return kStagedSerial;
  return quantile(overlapping, 0.5) < quantile(samples[kStagedSerial], 0.5) ? kStagedOverlapping
                                                                            : kStagedSerial;
}

void print_claim(const Claim& claim, const Samples* samples) {
  if (samples == nullptr) {
    std::printf("%-54s | %-20s | >= %-4.2f | -\n", claim.text, "not measured", claim.target);
    return;
  }
  const Ratio ratio = speed_ratio((*samples)[claim.measured], (*samples)[claim.other]);
  char measured[64];
  std::snprintf(measured, sizeof measured, "%.2f (%.2f to %.2f)", ratio.median, ratio.low,
                ratio.high);
  std::printf("%-54s | %-20s | >= %-4.2f | %s\n", claim.text, measured, claim.target,
              ratio.median >= claim.target ? "yes" : "NO");
}

}  // namespace

void print_heading() {
  std::printf("%-9s %-19s %-26s %11s %11s %11s %8s  %s\n", "size", "from -> to", "case",
              "median_us", "p10_us", "p90_us", "GB/s", "speed / bare copy (p10 to p90)");
  std::fflush(stdout);
}

void print_samples(std::size_t bytes, const Samples& samples) {
  for (std::size_t id = 0; id < kCases; ++id) {
    const std::vector<double>& seconds = samples[id];
    if (seconds.empty()) continue;
    const Case& which = case_of(id);
    const double median = quantile(seconds, 0.5);
    std::printf("%-9s %-19s %-26s %11.2f %11.2f %11.2f %8.2f", size_text(bytes).c_str(),
                which.group, which.name, median * 1e6, quantile(seconds, 0.1) * 1e6,
                quantile(seconds, 0.9) * 1e6, static_cast<double>(bytes) / median / 1e9);
    if (which.limit != id) {
      const Ratio ratio = speed_ratio(seconds, samples[which.limit]);
      std::printf("  %.2f (%.2f to %.2f)", ratio.median, ratio.low, ratio.high);
    }
    std::printf("\n");
  }
  std::printf("%-9s rounds: %zu\n", size_text(bytes).c_str(), samples[kBareCopy].size());
  std::fflush(stdout);
}

void print_claims(const Samples* samples) {
  const CaseId staged = samples == nullptr ? kStagedSerial : better_staged(*samples);
  const Claim claims[] = {
      {"RC write GPU -> GPU, 64 MiB / bare copy", 0.95, kGpuWrite, kBareCopy},
      {"RC write host -> GPU, 64 MiB / bare pinned HtoD", 0.9, kWriteFromPinned, kBareFromPinned},
      {"RC write GPU -> GPU, 64 MiB / the better staged copy", 1.5, kGpuWrite, staged},
  };
  std::printf("\n%-54s | %-20s | %-7s | met\n", "claim: speed / speed", "measured ratio", "target");
  for (const Claim& claim : claims) print_claim(claim, samples);
  if (samples != nullptr) std::printf("The better staged copy: %s.\n", case_of(staged).name);
  std::printf("Ratios: median of the rounds (middle 80 %% of them).\n");
}

}  // namespace gdr::bench
