#include "host/source/pasted_text.h"

#include <algorithm>
#include <vector>

#include "host/pci/address.h"

namespace gdr::host {
namespace {

constexpr std::string_view kQuoting = " \t>";
constexpr std::size_t kLongestExample = 60;

// Colours that a terminal was told.
std::string without_escapes(std::string_view line) {
  std::string plain;
  for (std::size_t at = 0; at < line.size(); ++at) {
    if (line[at] == '\x1b' && at + 1 < line.size() && line[at + 1] == '[') {
      at = std::min(line.find_first_not_of("0123456789;?", at + 2), line.size());
      continue;  // over the letter that ends it
    }
    plain += line[at];
  }
  while (!plain.empty() && (plain.back() == '\r' || plain.back() == ' ')) plain.pop_back();
  return plain;
}

std::vector<std::string> lines_of(std::string_view text) {
  std::vector<std::string> lines;
  while (!text.empty()) {
    const std::size_t end = std::min(text.find('\n'), text.size());
    lines.push_back(without_escapes(text.substr(0, end)));
    text.remove_prefix(std::min(end + 1, text.size()));
  }
  return lines;
}

bool begins_tree(std::string_view line) {
  return line.starts_with("-[") || line.starts_with("-+-[");
}

// " |           \-02.0-[01]--"
bool is_branch(std::string_view line) {
  const std::size_t at = line.find_first_not_of(" |");
  if (at == std::string_view::npos || line.size() < at + 3) return false;
  return (line[at] == '+' || line[at] == '\\') && line[at + 1] == '-' && line[at + 2] != '-';
}

// "41:00.0 3D controller: ..."; lspci -n leaves the words out: "41:00.0 0302: 10de:2330"
bool begins_function(std::string_view line) {
  if (line.empty() || line[0] == ' ' || line[0] == '\t') return false;
  const std::size_t space = line.find(' ');
  return space != std::string_view::npos && line.find(": ", space) != std::string_view::npos &&
         !full_address(line.substr(0, space)).empty();
}

// The quotation mark in front of each line of a text.
class Quote {
 public:
  template <typename Begins>
  Quote(const std::vector<std::string>& lines, Begins begins) {
    for (const std::string& line : lines) {
      const std::size_t at = std::min(line.find_first_not_of(kQuoting), line.size());
      if (!begins(std::string_view(line).substr(at))) continue;
      prefix_ = line.substr(0, at);
      found_ = true;
      return;
    }
  }
  bool found() const { return found_; }
  // What is behind it; of a line without it, all of it.
  std::string_view unquoted(std::string_view line) const {
    if (line.starts_with(prefix_)) return line.substr(prefix_.size());
    std::string_view bare = prefix_;  // in an empty line spaces at its end are gone
    while (bare.ends_with(' ') || bare.ends_with('\t')) bare.remove_suffix(1);
    return line == bare ? std::string_view() : line;
  }

 private:
  std::string prefix_;
  bool found_ = false;
};

bool is_blank(std::string_view line) {
  return line.find_first_not_of(kQuoting) == std::string_view::npos;
}

std::string shown_part(std::string_view line) {
  line.remove_prefix(std::min(line.find_first_not_of(kQuoting), line.size()));
  return std::string(line.substr(0, kLongestExample));
}

// A declaration, a comment or an element.
bool begins_xml(std::string_view line) {
  if (line.size() < 3 || line[0] != '<') return false;
  const bool letter = (line[1] >= 'a' && line[1] <= 'z') || (line[1] >= 'A' && line[1] <= 'Z');
  return letter || line[1] == '?' || line[1] == '!';
}

// The elements that describe machines: of hwloc's files and of NCCL's.
bool ends_xml(std::string_view line) {
  return line.ends_with("</topology>") || line.ends_with("</system>");
}

class Unwrapper {
 public:
  explicit Unwrapper(const std::vector<std::string>& lines)
      : lines_(lines), tree_(lines, begins_tree), verbose_(lines, begins_function) {
    // A chat takes the tabs in front of details away; then they are told by nothing.
    for (const std::string& line : lines) {
      const std::string_view text = verbose_.unquoted(line);
      has_indented_ |=
          verbose_.found() && !is_blank(text) && (text.starts_with('\t') || text.starts_with(' '));
    }
  }

  PastedLspci unwrap() {
    for (const std::string& line : lines_) take(line);
    return std::move(pasted_);
  }

 private:
  void take(const std::string& line) {
    std::string tree, verbose;
    if (is_blank(line)) {
      in_function_ = in_function_ && has_indented_;
    } else if (const auto text = tree_.unquoted(line);
               tree_.found() && (begins_tree(text) || is_branch(text))) {
      tree = text;
      in_function_ = false;
    } else if (is_verbose(verbose_.unquoted(line))) {
      verbose = verbose_.unquoted(line);
    } else {
      skip(line);
    }
    if (tree_.found()) pasted_.tree += tree + "\n";
    if (verbose_.found()) pasted_.verbose += verbose + "\n";
  }

  bool is_verbose(std::string_view text) {
    if (!verbose_.found()) return false;
    if (begins_function(text)) {
      in_function_ = true;
      return true;
    }
    if (has_indented_) return in_function_ && (text.starts_with('\t') || text.starts_with(' '));
    // Details have a colon, or go on with what one before them began.
    const bool wraps = text.starts_with("```") || text.starts_with("~~~") ||
                       text.find("lspci") != std::string_view::npos;
    return in_function_ && !wraps;
  }

  void skip(std::string_view line) {
    ++pasted_.skipped;
    if (pasted_.example.empty()) pasted_.example = shown_part(line);
  }

  const std::vector<std::string>& lines_;
  Quote tree_, verbose_;
  bool has_indented_ = false, in_function_ = false;
  PastedLspci pasted_;
};

}  // namespace

PastedLspci unwrap_lspci(std::string_view text) {
  const std::vector<std::string> lines = lines_of(text);
  return Unwrapper(lines).unwrap();
}

std::string skipped_note(std::size_t skipped, const std::string& source,
                         const std::string& example) {
  if (skipped == 0) return {};
  const std::string what = skipped == 1 ? "1 line skipped that is not " + source + ": '"
                                        : std::to_string(skipped) + " lines skipped that are not " +
                                              source + ", the first: '";
  return what + example + "'";
}

PastedXml unwrap_xml(std::string_view text) {
  const std::vector<std::string> lines = lines_of(text);
  const Quote quote(lines, begins_xml);
  const auto unquoted = [&](std::size_t i) { return quote.unquoted(lines[i]); };
  std::size_t begin = 0;
  while (begin < lines.size() && !begins_xml(unquoted(begin))) ++begin;
  std::size_t end = lines.size();
  while (end > begin && !ends_xml(unquoted(end - 1))) --end;
  PastedXml pasted;
  if (!quote.found() || begin == end) {
    pasted.document = text;
    return pasted;
  }
  for (std::size_t i = 0; i < lines.size(); ++i) {
    if (i >= begin && i < end) {
      pasted.document += unquoted(i);
    } else if (!is_blank(lines[i])) {
      ++pasted.skipped;
      if (pasted.example.empty()) pasted.example = shown_part(lines[i]);
    }
    pasted.document += "\n";
  }
  return pasted;
}

std::string without_windows(std::string text) {
  if (text.starts_with("\xef\xbb\xbf")) return text.substr(3);
  const bool little = text.starts_with("\xff\xfe"), big = text.starts_with("\xfe\xff");
  if (!little && !big) return text;
  std::string plain;
  for (std::size_t at = 2; at + 1 < text.size(); at += 2) {
    const char low = text[at + (little ? 0 : 1)], high = text[at + (little ? 1 : 0)];
    // Whatever tells machines apart is ASCII.
    plain += high == 0 && low > 0 ? low : '?';
  }
  return plain;
}

}  // namespace gdr::host
