#include "topo/output/svg.h"

#include <fmt/format.h>

#include <algorithm>

#include "tool/text.h"
#include "tool/wrap.h"
#include "topo/output/svg_layout.h"

namespace gdr::topo {
namespace {

constexpr double kLine = 18, kMargin = 16;
constexpr double kLeastWidth = 560;
constexpr double kWidest = 1.2;  // a heading's characters to those of other text

constexpr const char* kStyle = R"(<style>
svg { --page: #ffffff; --text: #1b1f24; --dim: #57606a; --edge: #8c959f; --box: #f6f8fa;
  --gpu: #dafbe1; --nic: #ddf4ff; --good: #1a7f37; --likely: #9a6700; --bad: #cf222e;
  font: 12px ui-monospace, "DejaVu Sans Mono", Menlo, Consolas, monospace; }
@media (prefers-color-scheme: dark) {
  svg { --page: #0d1117; --text: #e6edf3; --dim: #9198a1; --edge: #6e7681; --box: #21262d;
    --gpu: #12361f; --nic: #10304d; --good: #3fb950; --likely: #d29922; --bad: #f85149; }
}
.page { fill: var(--page); }
text { fill: var(--text); }
.heading { font-weight: bold; font-size: 14px; }
.small { font-size: 11px; fill: var(--dim); }
.warning { fill: var(--bad); }
rect.box { fill: var(--box); stroke: var(--edge); }
rect.gpu { fill: var(--gpu); }
rect.nic { fill: var(--nic); }
.edge { fill: none; stroke: var(--edge); }
.arrow { fill: none; stroke-width: 2; }
.head { stroke: none; }
.good { stroke: var(--good); } .head.good, text.good { fill: var(--good); }
.likely { stroke: var(--likely); } .head.likely, text.likely { fill: var(--likely); }
.bad { stroke: var(--bad); } .head.bad, text.bad { fill: var(--bad); }
.unknown { stroke: var(--dim); } .head.unknown, text.unknown { fill: var(--dim); }
text.good, text.likely, text.bad, text.unknown { font-size: 11px; stroke: none; }
</style>
)";

// What XML cannot hold even escaped (controls, U+FFFE, U+FFFF) is a question mark.
std::string escaped(const std::string& given) {
  std::string text;
  const std::string clean = tool::printable(given);
  for (std::size_t i = 0; i < clean.size(); ++i) {
    const char one = clean[i];
    if (clean.compare(i, 3, "\xef\xbf\xbe") == 0 || clean.compare(i, 3, "\xef\xbf\xbf") == 0) {
      text += '?';
      i += 2;
    } else if (one == '&') {
      text += "&amp;";
    } else if (one == '<') {
      text += "&lt;";
    } else if (one == '>') {
      text += "&gt;";
    } else {
      text += one;
    }
  }
  return text;
}

const char* class_of(Quality quality) {
  constexpr const char* kClasses[] = {"good", "likely", "bad", "unknown"};
  return kClasses[static_cast<std::size_t>(quality)];
}

struct Line {
  const char* style;
  std::string text;
};

void add_wrapped(std::vector<Line>& lines, const char* style, const std::string& text) {
  constexpr std::size_t kColumns = 76;
  const std::string wrapped = tool::wrap(text, kColumns, 0);
  for (std::size_t at = 0; at <= wrapped.size();) {
    const std::size_t end = std::min(wrapped.find('\n', at), wrapped.size());
    lines.push_back({style, wrapped.substr(at, end - at)});
    at = end + 1;
  }
}

std::vector<Line> head_lines(const Report& report) {
  std::vector<Line> lines;
  add_wrapped(lines, "heading", tool::join({report.origin.text, report.inventory.product}));
  for (const std::string& warning : report.warnings) add_wrapped(lines, "warning", warning);
  if (report.devices.empty()) lines.push_back({"text", "no NVIDIA GPU and no RDMA NIC"});
  if (!report.choices.empty()) {
    lines.push_back({"small", "arrows: from each GPU to its best NIC, with the grade of the path"});
  }
  return lines;
}

class Writer {
 public:
  explicit Writer(const Layout& layout) : layout_(layout) {}

  void head(const std::vector<Line>& lines) {
    double y = kMargin + 10;
    for (const Line& line : lines) {
      text(kMargin, y, line.style, line.text);
      y += kLine;
    }
  }

  void edges() {
    for (const Box& box : layout_.boxes) {
      if (!box.parent) continue;
      const Box& above = layout_.boxes[*box.parent];
      const double from_x = above.x + above.width, from_y = middle(above), y = middle(box);
      const double bend = from_x + 12;
      out_ += fmt::format("<path class=\"edge\" d=\"M{:.1f} {:.1f}H{:.1f}V{:.1f}H{:.1f}\"/>\n",
                          from_x, from_y, bend, y, box.x);
      // Right before the box, where no other edge runs.
      if (!box.port.empty()) text(box.x - 6, y - 4, "small", box.port, "end");
      if (!box.link.empty()) text(box.x - 6, y + 13, "small", box.link, "end");
    }
  }

  void boxes() {
    for (const Box& box : layout_.boxes) {
      out_ += fmt::format(
          "<rect class=\"box {}\" x=\"{:.1f}\" y=\"{:.1f}\" width=\"{:.1f}\" height=\"{:.0f}\" "
          "rx=\"4\"/>\n",
          box.style, box.x, box.y, box.width, kBoxHeight);
      const bool alone = box.subtitle.empty();
      text(box.x + 10, box.y + (alone ? 23 : 16), "", box.title);
      if (!alone) text(box.x + 10, box.y + 31, "small", box.subtitle);
    }
  }

  void arrows() {
    for (const Arrow& arrow : layout_.arrows) {
      const Box &from = layout_.boxes[arrow.from], &to = layout_.boxes[arrow.to];
      const double x = from.x + from.width, y = middle(from);
      const double end = middle(to) + arrow.arrival;
      const double tip = to.x + to.width;
      const char* style = class_of(arrow.quality);
      out_ += fmt::format(
          "<path class=\"arrow {}\" d=\"M{:.1f} {:.1f}H{:.1f}V{:.1f}H{:.1f}\"/>\n"
          "<path class=\"head {}\" d=\"M{:.1f} {:.1f}l8 -4v8z\"/>\n",
          style, x, y, arrow.lane, end, tip + 6, style, tip + 1, end);
      text(x + 5, y - 4, style, arrow.label);
    }
  }

  std::string take() { return std::move(out_); }

 private:
  static double middle(const Box& box) { return box.y + kBoxHeight / 2; }

  void text(double x, double y, const char* style, const std::string& content,
            const char* anchor = nullptr) {
    out_ += fmt::format("<text x=\"{:.1f}\" y=\"{:.1f}\"", x, y);
    if (style[0] != '\0') out_ += fmt::format(" class=\"{}\"", style);
    if (anchor != nullptr) out_ += fmt::format(" text-anchor=\"{}\"", anchor);
    out_ += " xml:space=\"preserve\">" + escaped(content) + "</text>\n";
  }

  const Layout& layout_;
  std::string out_;
};

}  // namespace

std::string to_svg(const Report& report, bool all) {
  const std::vector<Line> lines = head_lines(report);
  const double top = kMargin + kLine * static_cast<double>(lines.size()) + 8;
  const Layout layout = lay_out(report, make_tree(report.inventory.pci, report.devices, all), top);
  double width = std::max(layout.width, kLeastWidth);
  for (const Line& line : lines)
    width = std::max(width, kWidest * text_width(line.text) + 2 * kMargin);
  const double height = std::max(layout.height, top);
  Writer writer(layout);
  writer.head(lines);
  writer.edges();
  writer.boxes();
  writer.arrows();
  return fmt::format(
             "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"{0:.0f}\" height=\"{1:.0f}\" "
             "viewBox=\"0 0 {0:.0f} {1:.0f}\" role=\"img\">\n<title>{2}</title>\n",
             width, height, escaped("gdr topo: " + report.origin.text)) +
         kStyle + "<rect class=\"page\" width=\"100%\" height=\"100%\"/>\n" + writer.take() +
         "</svg>\n";
}

}  // namespace gdr::topo
