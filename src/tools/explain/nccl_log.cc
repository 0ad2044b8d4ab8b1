#include "explain/nccl_log.h"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>
#include <string_view>
#include <utility>

#include "explain/pattern.h"
#include "explain/text_report.h"
#include "nccl/text_report.h"
#include "text/format.h"

namespace gdr::explain {
namespace {

// Whether `line`, which a cause shows, is one that `symptom` is known by.
bool shows(const std::string& line, const Symptom& symptom) {
  std::string buffer;
  const std::string_view words = folded(line, buffer);
  return std::any_of(symptom.texts.begin(), symptom.texts.end(),
                     [&](const Text& text) { return Pattern(text.pattern).matches(words); });
}

// By the same line, or another of its kind.
bool is_same(const Recognition& found, const nccl::Cause& cause) {
  // These show a line, and say no more than that the log lacks the answer.
  constexpr std::string_view kVague[] = {"failed",    "log_level",   "log_subsystems",
                                         "truncated", "unexplained", "not_connected"};
  if (!cause.evidence ||
      std::find(std::begin(kVague), std::end(kVague), cause.id) != std::end(kVague)) {
    return false;
  }
  return std::any_of(found.seen.begin(), found.seen.end(),
                     [&](const Seen& seen) { return seen.line == cause.evidence->line; }) ||
         shows(cause.evidence->text, *found.symptom);
}

bool is_told(const Recognition& found, const std::vector<nccl::Cause>& causes) {
  return std::any_of(causes.begin(), causes.end(),
                     [&](const nccl::Cause& cause) { return is_same(found, cause); });
}

nccl::Cause cause_of(const Recognition& found) {
  const Symptom& symptom = *found.symptom;
  nccl::Cause cause;
  cause.id = symptom.id;
  cause.what = symptom.title;
  const Seen& seen = found.seen.front();
  cause.evidence = nccl::Evidence{seen.line, seen.text, found.times};
  const std::vector<text::Command> commands = commands_of(symptom.fix_now);
  cause.next =
      commands.empty() ? text::Command("gdr explain --symptom {}", symptom.id) : commands.front();
  if (!commands.empty()) {
    cause.note = fmt::format("gdr explain --symptom {} says more", symptom.id);
  }
  return cause;
}

}  // namespace

void add_symptoms(const Explanation& explanation, nccl::Report& report) {
  std::vector<nccl::Cause> added;
  for (const Recognition& found : explanation.found) {
    // What says no reason adds nothing to the judge's.
    const bool says_less = !found.named() && !report.causes.empty();
    if (found.because_of != nullptr || says_less || is_told(found, report.causes) ||
        is_told(found, report.also)) {
      continue;
    }
    added.push_back(cause_of(found));
  }
  const bool nothing_connected = report.verdict == nccl::Verdict::kNoConnections;
  std::vector<nccl::Cause>& list = nothing_connected ? report.causes : report.also;
  list.insert(nothing_connected ? list.begin() : list.end(), std::make_move_iterator(added.begin()),
              std::make_move_iterator(added.end()));
}

bool says_more(const nccl::Report& report) {
  return report.verdict == nccl::Verdict::kNone || report.verdict == nccl::Verdict::kPartial;
}

std::string connections_text(const nccl::Report& report, const Explanation& explanation) {
  std::string text =
      fmt::format("{}: {} of {} use GPUDirect RDMA\n", nccl::name_of(report.verdict),
                  report.counts.gdrdma, text::plural(report.counts.network, "network connection"));
  for (const nccl::Cause& cause : report.causes) {
    const bool told = std::any_of(explanation.found.begin(), explanation.found.end(),
                                  [&](const Recognition& found) { return is_same(found, cause); });
    if (told) continue;
    text += fmt::format("  {:<{}}{}\n", "why", kTextIndent - 2, cause.what);
    if (!cause.next.empty()) {
      text += fmt::format("{:{}}{}\n", "", kCommandIndent, cause.next.text());
    }
    if (!cause.note.empty()) text += fmt::format("{:{}}{}\n", "", kTextIndent, cause.note);
  }
  return text;
}

}  // namespace gdr::explain
