#include "mpi/text_report.h"

#include <fmt/format.h>

#include "base/environment.h"
#include "text/format.h"
#include "text/wrap.h"

namespace gdr::mpi {
namespace {

using text::Colour;

constexpr std::size_t kLabel = 12;  // "why", "next", …, with what is in front of them
constexpr std::size_t kDefaultColumns = 80;

class Page {
 public:
  explicit Page(const text::Style& style) : style_(style) {}

  void line(const std::string& text, std::size_t indent) {
    // Into a file the lines are as long as on a terminal of the usual width.
    const std::size_t columns = style_.columns == 0 ? kDefaultColumns : style_.columns;
    text_ += text::wrap(text, columns, indent) + "\n";
  }
  void field(const std::string& label, const std::string& value) {
    line("  " + text::pad(label, kLabel - 2) + printable(value), kLabel);
  }
  // A command is never broken, so that it can be pasted.
  void command(const text::Command& command) {
    for (const std::string_view one : split(command.text(), '\n')) {
      text_ += std::string(kLabel + 2, ' ') + std::string(one) + "\n";
    }
  }
  void blank() { text_ += "\n"; }
  std::string paint(Colour colour, const std::string& text) const {
    return text::paint(style_, colour, text);
  }
  std::string take() { return std::move(text_); }

 private:
  const text::Style& style_;
  std::string text_;
};

Colour colour_of(Verdict verdict) {
  switch (verdict) {
    case Verdict::kDirect:
      return Colour::kGreen;
    case Verdict::kNone:
      return Colour::kRed;
    case Verdict::kUnknown:
      return Colour::kBold;
    default:
      return Colour::kYellow;
  }
}

void add_step(Page& page, const std::string& label, const Step& step) {
  page.field(label, step.text + (step.command.empty() || step.text.empty() ? "" : ":"));
  if (!step.command.empty()) page.command(step.command);
}

std::string yes_or_no(Tri value) {
  return value == Tri::kYes ? "yes" : value == Tri::kNo ? "no" : "unknown";
}

void add_facts(Page& page, const Installation& one) {
  page.field("CUDA", yes_or_no(one.cuda) + (one.why_cuda.empty() ? "" : " (" + one.why_cuda + ")"));
  if (one.query != Tri::kUnknown) {
    page.field("query", std::string("MPIX_Query_cuda_support is ") +
                            (one.query == Tri::kYes ? "in " : "not in ") + one.library +
                            (one.query_answer.empty() ? "" : ", returns " + one.query_answer));
  }
  for (const auto& [name, parameter] : one.parameters) {
    if (name.starts_with("path:")) continue;
    page.field("param", name + " = " + parameter.value +
                            (parameter.source.empty() ? "" : "  (" + parameter.source + ")"));
  }
  if (one.ucx) {
    page.field(
        "UCX",
        fmt::format("{}  CUDA {}  cuda_ipc {}  GDRCopy {}  InfiniBand and RoCE {}  {}",
                    one.ucx->version.empty() ? "unknown version" : one.ucx->version,
                    yes_or_no(one.ucx->cuda), yes_or_no(one.ucx->cuda_ipc),
                    yes_or_no(one.ucx->gdrcopy), yes_or_no(one.ucx->network), one.ucx->library));
  }
  if (one.ofi) {
    page.field("libfabric",
               fmt::format("{}  CUDA {}  {}",
                           one.ofi->version.empty() ? "unknown version" : one.ofi->version,
                           yes_or_no(one.ofi->cuda), one.ofi->library));
  }
  std::string found;
  for (const std::string& place : one.found_by) found += (found.empty() ? "" : ", ") + place;
  if (!found.empty()) page.field("found by", found);
}

void add_mpi(Page& page, const Judged& judged, bool all) {
  const Installation& one = judged.installation;
  const Judgement& judgement = judged.judgement;
  std::vector<std::string> head = {one.title(), one.launcher.empty() ? one.prefix : one.launcher,
                                   one.origin};
  if (one.in_use) head.emplace_back("in use");
  page.line(printable(text::join(head)), 2);
  std::string answer = page.paint(colour_of(judgement.verdict), title_of(judgement.verdict)) +
                       ": " + meaning_of(judgement.verdict);
  page.line("  " + answer, 4);
  for (std::size_t i = 0; i < judgement.why.size(); ++i) {
    page.field(i == 0 ? "why" : "", judgement.why[i]);
  }
  if (!judgement.transport.empty()) page.field("by", judgement.transport);
  for (const Step& step : judgement.settings) add_step(page, "now", step);
  if (!judgement.settings.empty() && judgement.with_settings != judgement.verdict) {
    page.field("", std::string("With that: ") + meaning_of(judgement.with_settings));
  }
  const char* label = "missing";
  for (const Step& step : judgement.steps) {
    add_step(page, label, step);
    label = "also";
  }
  for (const std::string& note : judgement.notes) page.field("note", note);
  if (!judgement.launch.empty()) page.field("start by", judgement.launch);
  if (!judgement.load.empty()) add_step(page, "load by", {"", judgement.load});
  if (all) add_facts(page, one);
  page.blank();
}

}  // namespace

std::string to_text(const Report& report, const TextOptions& options) {
  Page page(options.style);
  for (const Judged& one : report.mpis) add_mpi(page, one, options.all);
  page.line("Driver half: " + printable(report.half.text()), 2);
  for (const Mixture& mixture : report.mixtures) {
    page.line((mixture.fails ? page.paint(Colour::kRed, "MIXED") : std::string("Note")) + ": " +
                  printable(mixture.what) +
                  (mixture.next.empty() ? "" : " Next: " + printable(mixture.next)),
              2);
  }
  return page.take();
}

}  // namespace gdr::mpi
