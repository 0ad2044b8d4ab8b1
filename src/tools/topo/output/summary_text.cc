#include "topo/output/summary_text.h"

#include <algorithm>

#include "text/format.h"
#include "text/table.h"
#include "text/wrap.h"

namespace gdr::topo {
namespace {

using text::Colour;

constexpr std::size_t kIndent = 2, kCommandIndent = 4;

Colour colour_of(const Verdict& verdict) {
  if (verdict.word == "GOOD") return Colour::kGreen;
  return verdict.quality.value_or(Quality::kBad) == Quality::kBad || verdict.word == "DOWN"
             ? Colour::kRed
             : Colour::kYellow;
}

std::string quality_text(Quality quality, const text::Style& style) {
  constexpr Colour kColours[] = {Colour::kGreen, Colour::kYellow, Colour::kRed, Colour::kYellow};
  return text::paint(style, kColours[static_cast<std::size_t>(quality)], name_of(quality));
}

// Empty where GPUs have different reasons.
std::string common_reason(const Report& report) {
  const std::string& first = report.choices.front().brief_why;
  const bool same =
      report.choices.size() > 1 && std::ranges::all_of(report.choices, [&](const Choice& choice) {
        return choice.brief_why == first;
      });
  return same ? first : std::string();
}

}  // namespace

std::string verdict_text(const Report& report, const text::Style& style) {
  const Verdict& verdict = report.verdict;
  std::string text = text::wrap(text::paint(style, colour_of(verdict), verdict.word) + "  " +
                                    printable(verdict.text),
                                style.columns, kIndent) +
                     "\n";
  for (const Step& step : verdict.steps) {
    text += text::wrap("  " + step.when + ": " + step.note, style.columns, kCommandIndent) + "\n";
    if (!step.command.empty()) {
      text += std::string(kCommandIndent, ' ') + step.command.text() + "\n";
    }
  }
  return text + "\n";
}

std::string best_text(const Report& report, const text::Style& style) {
  if (report.choices.empty()) return {};
  const std::string common = common_reason(report);
  bool any_alike = false;
  std::vector<std::vector<std::string>> rows = {
      {"", "NIC", "name", "path", "GPUDirect", common.empty() ? "why" : ""}};
  for (const Choice& choice : report.choices) {
    const std::string& label = report.devices[choice.gpu].label;
    const std::string why = common.empty() ? choice.brief_why : std::string();
    if (!choice.nic) {
      rows.push_back({label, "none", "", "", "", why});
      continue;
    }
    const Device& nic = report.devices[*choice.nic];
    rows.push_back({label, nic.label, printable(nic.name),
                    report.matrix.at(choice.gpu, *choice.nic).text(),
                    quality_text(choice.quality, style), why});
    any_alike = any_alike || !choice.alike.empty();
  }
  std::string text =
      "Best NIC for each GPU\n" + text::wrap_lines(text::table(rows, kIndent), style.columns, 8);
  const auto add = [&](const std::string& line) {
    text += text::wrap("  " + line, style.columns, kCommandIndent) + "\n";
  };
  if (!common.empty()) add("for each: " + common);
  if (any_alike) add("of equally good NICs, each GPU gets the one that fewest GPUs use");
  return text;
}

}  // namespace gdr::topo
