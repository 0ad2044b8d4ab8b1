#include "host/source/xml.h"

#include <algorithm>
#include <charconv>
#include <cstdint>

namespace gdr::host {
namespace {

constexpr std::size_t kDeepest = 64;
constexpr std::size_t kMostElements = 200'000;
constexpr std::size_t kMostAttributes = 64;
constexpr std::size_t kLongestName = 64;

bool is_space(char c) { return c == ' ' || c == '\t' || c == '\n' || c == '\r'; }

bool is_name_character(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_' ||
         c == '-' || c == '.' || c == ':';
}

// In UTF-8.
std::string encoded(std::uint32_t code) {
  const auto tail = [&](unsigned shift) {
    return static_cast<char>(0x80 | (code >> shift & 0x3f));
  };
  if (code < 0x80) return {static_cast<char>(code)};
  if (code < 0x800) return {static_cast<char>(0xc0 | code >> 6), tail(0)};
  if (code < 0x10000) return {static_cast<char>(0xe0 | code >> 12), tail(6), tail(0)};
  return {static_cast<char>(0xf0 | code >> 18), tail(12), tail(6), tail(0)};
}

// The character of "lt", "#38" or "#x26"; empty: none that is known here.
std::string entity(std::string_view name) {
  constexpr std::pair<std::string_view, const char*> kNamed[] = {
      {"lt", "<"}, {"gt", ">"}, {"amp", "&"}, {"quot", "\""}, {"apos", "'"}};
  for (const auto& [known, character] : kNamed) {
    if (name == known) return character;
  }
  if (name.size() < 2 || name[0] != '#') return {};
  const bool hex = name[1] == 'x';
  const std::string_view digits = name.substr(hex ? 2 : 1);
  std::uint32_t code = 0;
  const auto [end, error] =
      std::from_chars(digits.data(), digits.data() + digits.size(), code, hex ? 16 : 10);
  const bool whole = error == std::errc() && end == digits.data() + digits.size();
  return whole && code > 0 && code <= 0x10ffff ? encoded(code) : std::string();
}

class Reader {
 public:
  explicit Reader(std::string_view document) : rest_(document) {}

  Result<XmlElement> read() {
    while (!done_) {
      if (const Result<void> step = next(); !step) return step.error();
    }
    return std::move(root_);
  }

 private:
  Error error(const std::string& what) const {
    return {EINVAL, "line " + std::to_string(line_) + ": " + what};
  }
  void skip(std::size_t count) {
    line_ += static_cast<std::size_t>(
        std::count(rest_.begin(), rest_.begin() + static_cast<std::ptrdiff_t>(count), '\n'));
    rest_.remove_prefix(count);
  }
  void skip_spaces() {
    std::size_t count = 0;
    while (count < rest_.size() && is_space(rest_[count])) ++count;
    skip(count);
  }
  std::string name() {
    std::size_t count = 0;
    while (count < rest_.size() && count < kLongestName && is_name_character(rest_[count])) ++count;
    std::string found(rest_.substr(0, count));
    skip(count);
    return found;
  }
  // What begins with `begin` and ends with `end`.
  Result<void> skip_over(std::string_view end, const char* what) {
    const auto found = rest_.find(end);
    if (found == std::string_view::npos) return error(std::string("a ") + what + " has no end");
    skip(found + end.size());
    return {};
  }

  // One piece of markup with the text before it.
  Result<void> next() {
    const std::size_t text = std::min(rest_.find('<'), rest_.size());
    if (const Result<void> taken = take_text(rest_.substr(0, text)); !taken) return taken.error();
    skip(text);
    if (rest_.empty()) {
      if (!open_.empty()) return error("<" + open_.back().name + "> has no end");
      if (!has_root_) return error("there is no XML element");
      done_ = true;
      return {};
    }
    if (rest_.starts_with("<!--")) return skip_over("-->", "comment");
    if (rest_.starts_with("<?")) return skip_over("?>", "processing instruction");
    if (rest_.starts_with("<!DOCTYPE")) return doctype();
    if (rest_.starts_with("<!")) return error("'<!' starts neither a comment nor a DOCTYPE");
    return rest_.starts_with("</") ? end_tag() : start_tag();
  }

  Result<void> doctype() {
    const std::string_view whole = rest_.substr(0, rest_.find('>'));
    if (whole.find('[') != std::string_view::npos) {
      return error("a DOCTYPE with definitions");
    }
    return skip_over(">", "DOCTYPE");
  }

  Result<void> take_text(std::string_view text) {
    if (open_.empty()) {
      if (!std::all_of(text.begin(), text.end(), is_space)) {
        return error("text outside of an XML element");
      }
      return {};
    }
    return decode(text, open_.back().text);
  }

  Result<void> decode(std::string_view text, std::string& into) {
    while (!text.empty()) {
      const std::size_t plain = std::min(text.find('&'), text.size());
      into.append(text.substr(0, plain));
      text.remove_prefix(plain);
      if (text.empty()) break;
      const std::size_t end = text.find(';');
      const std::string character =
          end == std::string_view::npos ? std::string() : entity(text.substr(1, end - 1));
      if (character.empty()) return error("unknown character after '&'");
      into += character;
      text.remove_prefix(end + 1);
    }
    return {};
  }

  Result<void> start_tag() {
    skip(1);
    XmlElement element;
    element.line = line_;
    element.name = name();
    if (element.name.empty()) return error("'<' without a name behind it");
    if (open_.empty() && has_root_) return error("a second element beside the first");
    if (++elements_ > kMostElements) return error("more elements than a machine can have");
    if (open_.size() >= kDeepest) return error("elements deeper than a machine can be");
    for (;;) {
      skip_spaces();
      if (rest_.starts_with(">")) {
        skip(1);
        has_root_ = true;
        open_.push_back(std::move(element));
        return {};
      }
      if (rest_.starts_with("/>")) {
        skip(2);
        has_root_ = true;
        close(std::move(element));
        return {};
      }
      if (const Result<void> read = attribute(element); !read) return read.error();
    }
  }

  Result<void> attribute(XmlElement& element) {
    const std::string key = name();
    skip_spaces();
    if (key.empty() || !rest_.starts_with("=")) return error("<" + element.name + "> is malformed");
    skip(1);
    skip_spaces();
    if (rest_.empty() || (rest_[0] != '"' && rest_[0] != '\'')) {
      return error("the value of " + key + " has no quotation marks");
    }
    const std::size_t end = rest_.find(rest_[0], 1);
    const std::string_view raw = rest_.substr(1, end == std::string_view::npos ? end : end - 1);
    if (end == std::string_view::npos || raw.find('<') != std::string_view::npos) {
      return error("the value of " + key + " has no end");
    }
    if (!element.attribute(key).empty()) return error(key + " is given twice");
    if (element.attributes.size() >= kMostAttributes) return error("too many attributes");
    std::string value;
    if (const Result<void> decoded = decode(raw, value); !decoded) return decoded.error();
    skip(end + 1);
    element.attributes.emplace_back(key, std::move(value));
    return {};
  }

  Result<void> end_tag() {
    skip(2);
    const std::string closed = name();
    skip_spaces();
    if (!rest_.starts_with(">")) return error("</" + closed + " is malformed");
    skip(1);
    if (open_.empty() || open_.back().name != closed) {
      return error(
          "</" + closed + ">" +
          (open_.empty() ? " has no opening tag" : " where <" + open_.back().name + "> is open"));
    }
    XmlElement element = std::move(open_.back());
    open_.pop_back();
    close(std::move(element));
    return {};
  }

  void close(XmlElement element) {
    if (open_.empty()) {
      root_ = std::move(element);
    } else {
      open_.back().children.push_back(std::move(element));
    }
  }

  std::string_view rest_;
  std::size_t line_ = 1;
  std::size_t elements_ = 0;
  std::vector<XmlElement> open_;
  XmlElement root_;
  bool has_root_ = false;
  bool done_ = false;
};

}  // namespace

std::string_view XmlElement::attribute(std::string_view wanted) const {
  for (const auto& [key, value] : attributes) {
    if (key == wanted) return value;
  }
  return {};
}

Result<XmlElement> read_xml(std::string_view document) { return Reader(document).read(); }

}  // namespace gdr::host
