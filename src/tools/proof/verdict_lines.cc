#include "proof/verdict_lines.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>

namespace gdr::proof {
namespace {

constexpr std::size_t kMost = 6;  // of a kind
constexpr std::size_t kNumberWide = 3;

void add_all(const char* name, const std::vector<std::string>& texts,
             std::vector<VerdictLine>& lines) {
  for (std::size_t i = 0; i < std::min(texts.size(), kMost); ++i) lines.push_back({name, texts[i]});
  if (texts.size() > kMost) lines.push_back({"", fmt::format("and {} more", texts.size() - kMost)});
}

}  // namespace

std::string listed(std::span<const std::string> parts) {
  if (parts.size() < 2) return parts.empty() ? "" : parts.front();
  return fmt::format("{} and {}", fmt::join(parts.first(parts.size() - 1), ", "), parts.back());
}

std::vector<VerdictLine> lines_of(const Verdict& verdict) {
  std::vector<VerdictLine> lines;
  add_all("on", verdict.on, lines);
  add_all("way", verdict.ways, lines);
  if (!verdict.replaced.empty()) {
    if (!verdict.real.empty()) {
      lines.push_back({"real", listed(verdict.real)});
    }
    lines.push_back(
        {"replaced", fmt::format("{} by gdrkit's software; this says nothing about {}",
                                 listed(verdict.replaced),
                                 verdict.replaced.size() > 1 ? "real ones" : "a real one")});
  }
  for (const std::string& text : verdict.not_proved) lines.push_back({"not proved", text});
  add_all("seen", verdict.seen, lines);
  for (std::size_t i = 0; i < verdict.causes.size(); ++i) {
    lines.push_back(
        {i == 0 ? "causes" : "", fmt::format("{}. {}", i + 1, verdict.causes[i]), kNumberWide});
  }
  if (!verdict.next.empty()) lines.push_back({"next", verdict.next.text()});
  return lines;
}

}  // namespace gdr::proof
