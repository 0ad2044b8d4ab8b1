#include <fmt/format.h>

#include <algorithm>

#include "peermem/status.h"
#include "text/format.h"
#include "text/table.h"
#include "text/wrap.h"

namespace gdr::peermem {
namespace {

using host::Tri;
using text::Colour;

constexpr std::size_t kLabel = 14;
constexpr std::size_t kMostRefusals = 3;  // of one module; JSON has all

class Page {
 public:
  explicit Page(const text::Style& style) : style_(style) {}

  void line(const std::string& text, std::size_t indent = 2) {
    text_ += text::wrap(text, style_.columns, indent) + "\n";
  }
  void field(const std::string& label, const std::string& value) {
    line(text::pad(label, kLabel) + value, kLabel);
  }
  void raw(const std::string& text) { text_ += text; }
  std::string painted(Colour colour, const std::string& text) const {
    return text::paint(style_, colour, text);
  }
  std::string take() { return std::move(text_); }

 private:
  const text::Style& style_;
  std::string text_;
};

std::string place_of(const FoundModule& one) {
  std::string text = "/" + printable(one.place.path);
  if (one.place.origin != "this host") text += " (" + printable(one.place.origin) + ")";
  return text;
}

void print_driver(const Survey& survey, Page& page) {
  if (survey.drivers.empty()) {
    page.field("GPU driver", "no nvidia.ko for kernel " + printable(survey.kernel) +
                                 "; give its file with --driver-module");
  }
  for (const FoundModule& one : survey.drivers) {
    if (!one.problem.empty()) {
      page.field("GPU driver", printable(one.problem));
      continue;
    }
    std::string text = place_of(one) + ": " + one.module.version;
    text += is_gpl_compatible(one.module.license) ? ", open" : ", proprietary";
    if (one.loaded == Tri::kYes) text += ", loaded";
    if (one.loaded == Tri::kNo && survey.plan.read.driver_loaded)
      text += ", not the driver that is loaded";
    page.field("GPU driver", text);
  }
}

void print_rdma(const Survey& survey, Page& page) {
  const std::string from =
      survey.rdma.source.empty() ? "" : " (" + printable(survey.rdma.source) + ")";
  switch (survey.has_interface) {
    case Tri::kYes:
      return page.field("RDMA stack", "has the peer-memory interface" + from);
    case Tri::kNo:
      return page.field("RDMA stack",
                        "has no peer-memory interface" + from + ": no module can help");
    case Tri::kUnknown:
      return page.field("RDMA stack",
                        "not seen whether it has the peer-memory interface; give "
                        "--rdma");
  }
}

void print_dma_buf(const Survey& survey, Page& page) {
  const host::RegistrationWays& ways = survey.plan.ways;
  if (ways.dma_buf == Tri::kYes) {
    page.field("dma-buf", "supported; only programs that insist on peer memory need a module");
  } else {
    page.field("dma-buf", (ways.dma_buf == Tri::kNo ? "not supported: " : "unknown: ") +
                              printable(ways.why_no_dma_buf));
  }
}

void print_candidate(const Candidate& one, const Survey& survey, Page& page) {
  if (!one.found.problem.empty()) return page.field("Module", printable(one.found.problem));
  std::string text = place_of(one.found) + ": ";
  if (one.found.loaded == Tri::kYes) text += "loaded, ";
  if (one.refusals.empty()) {
    const bool judged = survey.driver() != nullptr && !survey.rdma.source.empty();
    page.field("Module", text + (judged ? page.painted(Colour::kGreen, "fits")
                                        : "no reason seen why it would be refused"));
    return;
  }
  page.field("Module", text + page.painted(Colour::kRed, "would be refused") + ", modprobe: \"" +
                           one.refusals.front().modprobe + "\"");
  for (std::size_t i = 0; i < one.refusals.size() && i < kMostRefusals; ++i) {
    page.field("", printable(one.refusals[i].text));
  }
  if (one.refusals.size() > kMostRefusals) {
    page.field("", fmt::format("and {} more", one.refusals.size() - kMostRefusals));
  }
}

// Symbol, what is exported, and a column for what each module wants.
void print_versions(const Survey& survey, Page& page) {
  std::vector<std::vector<std::string>> rows = {{"symbol", "exported"}};
  std::vector<const ModuleFile*> modules;
  for (const Candidate& one : survey.candidates) {
    if (!one.found.problem.empty()) continue;
    modules.push_back(&one.found.module);
    rows[0].push_back(fmt::format("module {}", modules.size()));
  }
  Exports all = survey.rdma.exports;
  if (survey.driver() != nullptr) {
    for (const auto& one : survey.driver()->exports) all.insert(one);
  }
  Imports wanted;
  for (const ModuleFile* module : modules)
    wanted.insert(module->imports.begin(), module->imports.end());
  for (const auto& one : wanted) {
    if (is_interface_symbol(one.first) && !all.contains(one.first)) all[one.first] = {};
  }
  for (const auto& [name, symbol] : all) {
    if (!is_interface_symbol(name)) continue;
    const bool known = survey.rdma.exports.contains(name) ||
                       (survey.driver() != nullptr && survey.driver()->exports.contains(name));
    std::vector<std::string> row = {printable(name), known ? crc_text(symbol.crc) : "not exported"};
    for (const ModuleFile* module : modules) {
      const auto found = module->imports.find(name);
      row.push_back(found == module->imports.end() ? "-" : crc_text(found->second));
    }
    rows.push_back(std::move(row));
  }
  if (rows.size() == 1) return;
  page.raw("\nSymbol versions\n" + text::table(rows, 2) + "\n");
}

void print_verdict(const Survey& survey, Page& page) {
  switch (verdict_of(survey)) {
    case Verdict::kNoDriver:
      return page.line("=> The GPU driver is not installed for this kernel; install it first.", 3);
    case Verdict::kUseless: {
      const std::string remedy = survey.plan.ways.remedy;
      return page.line("=> No module can help here. Use dma-buf" +
                           (survey.plan.needed == Tri::kNo ? ", which this host supports: gdr prove"
                            : remedy.empty()               ? std::string()
                                                           : ": " + printable(remedy)),
                       3);
    }
    case Verdict::kLoaded:
      return page.line("=> " + printable(survey.plan.loaded) + " is loaded. To try it: gdr prove",
                       3);
    case Verdict::kFits:
      return page.line("=> Load it: sudo gdr fix peer-memory --apply", 3);
    case Verdict::kBuild:
      return page.line(
          "=> Build one for this driver: gdr peermem build && sudo gdr peermem install "
          "nvidia-peermem.ko",
          3);
    case Verdict::kUnknown:
      return page.line(
          "=> Too little is seen to tell. Name what is missing with --driver-module or --rdma.", 3);
  }
}

}  // namespace

std::string to_text(const Survey& survey, const text::Style& style) {
  Page page(style);
  page.field("Kernel", printable(survey.kernel));
  print_rdma(survey, page);
  print_dma_buf(survey, page);
  print_driver(survey, page);
  for (const Candidate& one : survey.candidates) print_candidate(one, survey, page);
  if (survey.candidates.empty()) page.field("Module", "none for this kernel");
  print_versions(survey, page);
  print_verdict(survey, page);
  return page.take();
}

}  // namespace gdr::peermem
