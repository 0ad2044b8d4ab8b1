#include "topo/output/svg.h"

#include <fmt/format.h>

#include <algorithm>
#include <string_view>

#include "text/format.h"
#include "text/markup.h"
#include "text/wrap.h"
#include "topo/output/svg_layout.h"

namespace gdr::topo {
namespace {

constexpr double kLine = 18, kMargin = 16;
constexpr double kLeastWidth = 560;
constexpr const char* kFonts = "DejaVu Sans Mono, Menlo, Consolas, Liberation Mono, monospace";
constexpr double kWidest = 1.2;  // a heading's characters to those of other text

// Each element has its colours as attributes, those of a light page, since outside of browsers
// (librsvg, Inkscape, viewers of mail) variables and media queries of CSS are not known, and what
// is not known is black. A rule of CSS stands above an attribute, so browsers have the dark page
// too.
struct Colour {
  const char *light, *dark;
};
constexpr Colour kPage{"#ffffff", "#0d1117"}, kText{"#1b1f24", "#e6edf3"},
    kDim{"#57606a", "#9198a1"}, kEdge{"#8c959f", "#6e7681"}, kBox{"#f6f8fa", "#21262d"},
    kGpu{"#dafbe1", "#12361f"}, kNic{"#ddf4ff", "#10304d"}, kGood{"#1a7f37", "#3fb950"},
    kLikely{"#9a6700", "#d29922"}, kBad{"#cf222e", "#f85149"};

struct Look {
  std::string_view name;        // its class
  const Colour *fill, *stroke;  // null: none
  const char* more = "";        // further attributes
};
constexpr const char* kSmall = " font-size=\"11\"";
constexpr const char* kThick = " stroke-width=\"2\"";
constexpr Look kLooks[] = {
    {"page", &kPage, nullptr},
    {"text", &kText, nullptr},
    {"heading", &kText, nullptr, " font-weight=\"bold\" font-size=\"14\""},
    {"small", &kDim, nullptr, kSmall},
    {"warning", &kBad, nullptr},
    {"gpu", &kGpu, &kEdge},
    {"nic", &kNic, &kEdge},
    {"device", &kBox, &kEdge},
    {"switch", &kBox, &kEdge},
    {"bridge", &kBox, &kEdge},
    {"edge", nullptr, &kEdge},
    {"arrow-good", nullptr, &kGood, kThick},
    {"arrow-likely", nullptr, &kLikely, kThick},
    {"arrow-bad", nullptr, &kBad, kThick},
    {"arrow-unknown", nullptr, &kDim, kThick},
    {"good", &kGood, nullptr, kSmall},
    {"likely", &kLikely, nullptr, kSmall},
    {"bad", &kBad, nullptr, kSmall},
    {"unknown", &kDim, nullptr, kSmall},
};

const Look& look_of(std::string_view name) {
  const auto* found = std::ranges::find(kLooks, name, &Look::name);
  return found == std::end(kLooks) ? kLooks[1] : *found;
}

std::string attributes(std::string_view name) {
  const Look& look = look_of(name);
  std::string text = fmt::format("class=\"{}\" fill=\"{}\"", look.name,
                                 look.fill != nullptr ? look.fill->light : "none");
  if (look.stroke != nullptr) text += fmt::format(" stroke=\"{}\"", look.stroke->light);
  return text + look.more;
}

// Below the drawing's own class: in a page it touches nothing else.
std::string dark_rules() {
  std::string rules = "<style>\n@media (prefers-color-scheme: dark) {\n";
  for (const Look& look : kLooks) {
    rules += fmt::format("  .gdr-topo .{} {{", look.name);
    if (look.fill != nullptr) rules += fmt::format(" fill: {};", look.fill->dark);
    if (look.stroke != nullptr) rules += fmt::format(" stroke: {};", look.stroke->dark);
    rules += " }\n";
  }
  return rules + "}\n</style>\n";
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
  const std::string wrapped = text::wrap(text, kColumns, 0);
  for (std::size_t at = 0; at <= wrapped.size();) {
    const std::size_t end = std::min(wrapped.find('\n', at), wrapped.size());
    lines.push_back({style, wrapped.substr(at, end - at)});
    at = end + 1;
  }
}

std::vector<Line> head_lines(const Report& report) {
  std::vector<Line> lines;
  add_wrapped(lines, "heading", text::join({report.origin.text, report.inventory.product}));
  for (const std::string& warning : report.warnings) add_wrapped(lines, "warning", warning);
  if (report.devices.empty()) lines.push_back({"text", "no NVIDIA GPU and no RDMA NIC"});
  if (!report.choices.empty()) {
    lines.push_back({"small", "arrows: each GPU's best NIC, with the grade of the path"});
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
      out_ += fmt::format("<path {} d=\"M{:.1f} {:.1f}H{:.1f}V{:.1f}H{:.1f}\"/>\n",
                          attributes("edge"), from_x, from_y, bend, y, box.x);
      // Right before the box, where no other edge runs.
      if (!box.port.empty()) text(box.x - 6, y - 4, "small", box.port, "end");
      if (!box.link.empty()) text(box.x - 6, y + 13, "small", box.link, "end");
    }
  }

  void boxes() {
    for (const Box& box : layout_.boxes) {
      out_ += fmt::format(
          "<rect {} x=\"{:.1f}\" y=\"{:.1f}\" width=\"{:.1f}\" height=\"{:.0f}\" "
          "rx=\"4\"/>\n",
          attributes(box.style), box.x, box.y, box.width, kBoxHeight);
      const bool alone = box.subtitle.empty();
      text(box.x + 10, box.y + (alone ? 23 : 16), "text", box.title);
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
          "<path {} d=\"M{:.1f} {:.1f}H{:.1f}V{:.1f}H{:.1f}\"/>\n"
          "<path {} d=\"M{:.1f} {:.1f}l8 -4v8z\"/>\n",
          attributes(fmt::format("arrow-{}", style)), x, y, arrow.lane, end, tip + 6,
          attributes(style), tip + 1, end);
      text(x + 5, y - 4, style, arrow.label);
    }
  }

  std::string take() { return std::move(out_); }

 private:
  static double middle(const Box& box) { return box.y + kBoxHeight / 2; }

  void text(double x, double y, const char* style, const std::string& content,
            const char* anchor = nullptr) {
    out_ += fmt::format("<text x=\"{:.1f}\" y=\"{:.1f}\" {}", x, y, attributes(style));
    if (anchor != nullptr) out_ += fmt::format(" text-anchor=\"{}\"", anchor);
    out_ += " xml:space=\"preserve\">" + text::escape_markup(content) + "</text>\n";
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
             "<svg xmlns=\"http://www.w3.org/2000/svg\" class=\"gdr-topo\" width=\"{0:.0f}\" "
             "height=\"{1:.0f}\" viewBox=\"0 0 {0:.0f} {1:.0f}\" role=\"img\" font-size=\"12\" "
             "font-family=\"{2}\">\n<title>{3}</title>\n",
             width, height, kFonts, text::escape_markup("gdr topo: " + report.origin.text)) +
         dark_rules() +
         fmt::format("<rect {} width=\"{:.0f}\" height=\"{:.0f}\"/>\n", attributes("page"), width,
                     height) +
         writer.take() + "</svg>\n";
}

}  // namespace gdr::topo
