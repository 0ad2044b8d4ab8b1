#include "topo/output/text_report.h"

#include <fmt/format.h>

#include "text/format.h"
#include "text/table.h"
#include "text/wrap.h"
#include "topo/output/matrix_text.h"
#include "topo/output/names_text.h"
#include "topo/output/others_text.h"
#include "topo/output/tree_text.h"

namespace gdr::topo {
namespace {

using text::Colour;

class Text {
 public:
  Text(const Report& report, const text::Style& style, Sections sections)
      : report_(report), style_(style), sections_(sections) {}

  std::string write() {
    head();
    if (report_.devices.empty()) {
      nothing();
    } else {
      section(sections_.tree ? tree_text(report_, sections_.all, style_.columns)
                             : matrix_text(report_, style_.columns));
    }
    section(best());
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
    for (const std::string& warning : report_.warnings) {
      line(text::paint(style_, Colour::kYellow, "UNRELIABLE") + "  " + warning);
    }
    for (const std::string& note : report_.notes) line("note  " + printable(note));
  }

  void nothing() {
    text_ += "\n";
    if (!report_.inventory.unsupported.empty()) {
      line("No NVIDIA GPU and no RDMA NIC that gdr supports; other devices are listed below.");
      return;
    }
    line("No NVIDIA GPU and no RDMA NIC with a PCI function. Searched:");
    for (const std::string& place : report_.origin.looked_at) {
      line("  " + printable(place), 4);
    }
  }

  std::string quality_text(Quality quality) const {
    constexpr Colour kColours[] = {Colour::kGreen, Colour::kYellow, Colour::kRed, Colour::kYellow};
    return text::paint(style_, kColours[static_cast<std::size_t>(quality)], name_of(quality));
  }

  // Reasons may be longer than a line, so the last column is wrapped behind the others.
  std::string best() const {
    if (report_.choices.empty()) return {};
    std::vector<std::vector<std::string>> rows = {{"", "NIC", "name", "path", "GPUDirect"}};
    for (const Choice& choice : report_.choices) {
      if (!choice.nic) {
        rows.push_back({report_.devices[choice.gpu].label, "none"});
        continue;
      }
      const Device& nic = report_.devices[*choice.nic];
      rows.push_back({report_.devices[choice.gpu].label, nic.label, printable(nic.name),
                      report_.matrix.at(choice.gpu, *choice.nic).text(),
                      quality_text(choice.quality)});
    }
    std::string text = "Best NIC for each GPU\n";
    text += with_reasons(text::table(rows, 2));
    return text;
  }

  std::string with_reasons(const std::string& table) const {
    std::string text;
    std::vector<std::string> lines;
    std::size_t widest = 0;
    for (std::size_t at = 0; at < table.size();) {
      const std::size_t end = table.find('\n', at);
      lines.push_back(table.substr(at, end - at));
      widest = std::max(widest, text::screen_width(lines.back()));
      at = end + 1;
    }
    for (std::size_t i = 0; i < lines.size(); ++i) {
      const std::string why = i == 0 ? "why" : report_.choices[i - 1].why;
      text += text::wrap(text::pad(lines[i], widest) + "  " + why, style_.columns, widest + 2);
      text += "\n";
    }
    return text;
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
