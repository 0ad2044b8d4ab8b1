#include "topo/output/text_report.h"

#include <fmt/format.h>

#include "text/format.h"
#include "text/wrap.h"
#include "topo/output/matrix_text.h"
#include "topo/output/names_text.h"
#include "topo/output/others_text.h"
#include "topo/output/summary_text.h"
#include "topo/output/tree_text.h"

namespace gdr::topo {
namespace {

using text::Colour;

class Text {
 public:
  Text(const Report& report, const text::Style& style, Sections sections)
      : report_(report), style_(style), sections_(sections) {}

  std::string write() {
    if (report_.devices.empty()) {
      nothing();
    } else {
      text_ = verdict_text(report_, style_);
    }
    head();
    if (!report_.devices.empty()) {
      section(best_text(report_, style_));
      section(sections_.tree ? tree_text(report_, sections_.all, style_.columns)
                             : matrix_text(report_, style_.columns));
    }
    section(nccl());
    section(names_text(report_, style_.columns));
    section(others_text(report_, style_.columns));
    section(unseen());
    return std::move(text_);
  }

 private:
  void line(const std::string& text, std::size_t indent = 2) {
    text_ += text::wrap(text, style_.columns, indent) + "\n";
  }

  void section(const std::string& text) {
    if (text.empty()) return;
    if (!text_.empty()) text_ += "\n";
    text_ += text;
  }

  void head() {
    const auto count = [&](Device::Kind kind, const char* noun) {
      return text::plural(count_of(report_, kind), noun);
    };
    line(text::join({printable(report_.origin.text), printable(report_.inventory.product),
                     count(Device::Kind::kGpu, "GPU"), count(Device::Kind::kNic, "NIC"),
                     others_count(report_)}));
    if (report_.verdict.word != kUnreliable && !report_.devices.empty()) {
      for (const std::string& warning : report_.warnings) {
        line(text::paint(style_, Colour::kYellow, kUnreliable) + "  " + warning);
      }
    }
    for (const std::string& note : report_.notes) line("note  " + printable(note));
  }

  void nothing() {
    if (!report_.inventory.unsupported.empty()) {
      line("No NVIDIA GPU and no RDMA NIC that gdr supports; other devices are listed below.");
      text_ += "\n";
      return;
    }
    line("No NVIDIA GPU and no RDMA NIC with a PCI function. Searched:");
    for (const std::string& place : report_.origin.looked_at) {
      line("  " + printable(place), 4);
    }
    text_ += "\n";
  }

  std::string nccl() const {
    std::string text;
    const auto add = [&](const std::string& line) {
      text += text::wrap("  " + line, style_.columns, 4) + "\n";
    };
    for (const NcclDifference& one : report_.nccl_differences) {
      add(fmt::format("NCCL calls {} {}, because {}: {}", host::name_of(one.ours),
                      host::name_of(one.theirs), one.why, pairs_text(one)));
    }
    for (const std::string& line : report_.nccl_advice) add(line);
    return text.empty() ? text : "NCCL\n" + text;
  }

  std::string pairs_text(const NcclDifference& difference) const {
    constexpr std::size_t kMost = 4;
    std::string text;
    for (std::size_t i = 0; i < difference.pairs.size() && i < kMost; ++i) {
      const auto [gpu, nic] = difference.pairs[i];
      text += fmt::format("{}{}-{}", i == 0 ? "" : ", ", report_.devices[gpu].label,
                          report_.devices[nic].label);
    }
    if (difference.pairs.size() > kMost) {
      text += fmt::format(" and {} more", difference.pairs.size() - kMost);
    }
    return text;
  }

  std::string unseen() const {
    if (report_.inventory.unseen.empty()) return {};
    std::string text = "Not seen\n";
    for (const std::string& sentence : report_.inventory.unseen) {
      text += text::wrap("  " + printable(sentence), style_.columns, 4) + "\n";
    }
    return text;
  }

  const Report& report_;
  const text::Style& style_;
  Sections sections_;
  std::string text_;
};

}  // namespace

std::string to_text(const Report& report, const text::Style& style, Sections sections) {
  return Text(report, style, sections).write();
}

}  // namespace gdr::topo
