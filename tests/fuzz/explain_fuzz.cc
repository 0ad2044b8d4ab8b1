// An error text of any bytes: nothing is read outside it, the same bytes in other pieces show the
// same symptoms, each with a line of the text, and every report can be printed. And a pattern of
// any bytes: what matches has a word of each list that it needs.
//
// Input: a byte that says in how large pieces the rest arrives, and the text.
#include <algorithm>
#include <cstdlib>
#include <nlohmann/json.hpp>

#include "explain/json_report.h"
#include "explain/pattern.h"
#include "explain/text_report.h"
#include "input.h"

namespace {

using gdr::explain::Explanation;
using gdr::test::require;

Explanation explain(std::string_view bytes, std::size_t piece) {
  gdr::explain::Recogniser recogniser;
  for (; bytes.size() > piece; bytes.remove_prefix(piece)) {
    // In an allocation of just its size, so that the address sanitizer sees a byte too far.
    recogniser.feed(std::string(bytes.substr(0, piece)));
  }
  recogniser.feed(std::string(bytes));
  return recogniser.finish();
}

void check_text(const std::string& text) {
  for (const char c : text) require(c == '\n' || static_cast<unsigned char>(c) >= 0x20);
}

void check_same(const Explanation& a, const Explanation& b) {
  require(a.lines == b.lines && a.is_nccl_log == b.is_nccl_log);
  require(a.found.size() == b.found.size());
  for (std::size_t i = 0; i < a.found.size(); ++i) {
    require(a.found[i].symptom == b.found[i].symptom && a.found[i].times == b.found[i].times);
    require(a.found[i].because_of == b.found[i].because_of);
  }
}

void check_reports(const Explanation& explanation) {
  for (const gdr::explain::Recognition& found : explanation.found) {
    require(!found.seen.empty() && found.times >= found.seen.size());
    for (const gdr::explain::Seen& seen : found.seen) {
      require(seen.line >= 1 && seen.line <= explanation.lines);
    }
  }
  // Something is shown of its own, and not only below others.
  if (!explanation.found.empty()) require(explanation.found.front().because_of == nullptr);
  check_text(to_text(explanation, "log", {}, ""));
  require(nlohmann::json::accept(to_json(explanation, "log", {}, "")));
}

void check_pattern(std::string_view bytes) {
  const std::size_t split = bytes.find('\n');
  if (split == std::string_view::npos) return;
  const gdr::explain::Pattern pattern(std::string(bytes.substr(0, split)));
  const std::string line(bytes.substr(split + 1));
  std::string small;
  const std::string words(gdr::explain::folded(line, small));
  for (const auto& need : pattern.needs()) {
    const bool has_one = std::any_of(need.begin(), need.end(), [&](const std::string& word) {
      return words.find(word) != std::string::npos;
    });
    require(has_one || !pattern.matches(words));
  }
  pattern.shown();
  std::string buffer;
  require(gdr::explain::one_spaced(line, buffer).find("  ") == std::string_view::npos);
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  if (size == 0) return 0;
  const std::string_view bytes(reinterpret_cast<const char*>(data) + 1, size - 1);
  const Explanation whole = explain(bytes, size);
  check_same(whole, explain(bytes, data[0] + 1u));
  check_reports(whole);
  check_pattern(bytes);
  return 0;
}
