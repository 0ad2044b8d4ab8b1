#include "explain/text_index.h"

#include <algorithm>
#include <map>
#include <span>
#include <unordered_map>
#include <utility>

namespace gdr::explain {
namespace {

using Need = std::span<const std::string>;

std::vector<TextIndex::Entry> entries_of(const std::vector<Symptom>& symptoms) {
  std::vector<TextIndex::Entry> entries;
  const auto add = [&](std::size_t place, unsigned part, Scope scope, Pattern pattern) {
    const std::size_t letters = pattern.letters();
    entries.push_back({place, part, scope, std::move(pattern), letters, {}});
  };
  for (std::size_t place = 0; place < symptoms.size(); ++place) {
    const Symptom& symptom = symptoms[place];
    for (const Text& text : symptom.texts) {
      // One program's line stands as it is; what lines may have in common is told by words.
      const bool by_words =
          text.scope != Scope::kOwn || text.pattern.find("&&") != std::string::npos;
      add(place, text.part, text.scope, Pattern(text.pattern, by_words));
    }
    for (const std::string& pattern : symptom.unless) {
      add(place, TextIndex::kUnless, Scope::kOwn, Pattern(pattern));
    }
  }
  return entries;
}

// The symptoms' own explanations are a sample of what logs are written in.
GramCounts prose_of(const std::vector<Symptom>& symptoms) {
  GramCounts prose;
  std::string buffer;
  for (const Symptom& symptom : symptoms) {
    for (const std::string* text : {&symptom.title, &symptom.cause, &symptom.consequence}) {
      prose.add(folded(*text, buffer));
    }
    for (const auto* fix : {&symptom.fix_now, &symptom.fix_for_good}) {
      for (const Step& step : *fix) prose.add(folded(step.text, buffer));
    }
    for (const Text& text : symptom.texts) prose.add(folded(text.pattern, buffer));
  }
  return prose;
}

// How often a log has to be looked at because of it.
std::uint64_t price_of(Need need, const GramCounts& prose) {
  constexpr std::uint64_t kShort = 1u << 30;
  std::uint64_t price = 0;
  for (const std::string& word : need) {
    price += word.size() < kGram ? kShort : prose.rarest(word).times + 1;
  }
  return price;
}

// Empty: no line is searched for it.
Need rarest_of(const std::vector<Need>& needs, const GramCounts& prose) {
  Need rarest;
  std::uint64_t least = 0;
  for (const Need need : needs) {
    const std::uint64_t price = price_of(need, prose);
    if (!rarest.empty() && price >= least) continue;
    rarest = need;
    least = price;
  }
  return rarest;
}

// Words for a scanner, each with the number of the need that it is for.
class Needs {
 public:
  std::uint32_t number_of(Need need) {
    const Key key = need.size() == 1 ? Key(need.front(), nullptr) : Key("", need.data());
    const auto [place, added] = numbers_.emplace(key, static_cast<std::uint32_t>(numbers_.size()));
    if (added) {
      words.insert(words.end(), need.begin(), need.end());
      need_of.resize(words.size(), place->second);
    }
    return place->second;
  }
  [[nodiscard]] std::size_t count() const { return numbers_.size(); }

  std::vector<std::string> words;
  std::vector<std::uint32_t> need_of;

 private:
  // A literal is known by its word, a set by where its words are.
  using Key = std::pair<std::string_view, const std::string*>;

  std::map<Key, std::uint32_t> numbers_;
};

bool has_short_word(Need need) {
  return std::any_of(need.begin(), need.end(),
                     [](const std::string& word) { return word.size() < kGram; });
}

}  // namespace

TextIndex::TextIndex(const SymptomTable& symptoms, std::vector<std::string> marks)
    : TextIndex(symptoms, std::move(marks), prose_of(symptoms.all())) {}

TextIndex::TextIndex(const SymptomTable& symptoms, std::vector<std::string> marks,
                     const GramCounts& prose)
    : symptoms_(symptoms),
      entries_(entries_of(symptoms.all())),
      marks_(marks.size()),
      rare_(look_for_rarest(std::move(marks), prose), prose),
      needed_(number_needs(), prose) {}

std::vector<std::string> TextIndex::look_for_rarest(std::vector<std::string> marks,
                                                    const GramCounts& prose) {
  std::vector<std::string> words = std::move(marks);
  std::unordered_map<std::string_view, std::size_t> places;  // in behind_
  for (std::size_t text = 0; text < entries_.size(); ++text) {
    const Need rarest = rarest_of(entries_[text].pattern.needs(), prose);
    for (const std::string& word : rarest) {
      const auto [place, added] = places.emplace(word, behind_.size());
      if (added) {
        words.push_back(word);
        behind_.emplace_back();
      }
      behind_[place->second].push_back(text);
    }
  }
  return words;
}

// What is too short for a scanner is left to the pattern.
std::vector<std::string> TextIndex::number_needs() {
  Needs needs;
  for (Entry& entry : entries_) {
    std::vector<Need> long_ones = entry.pattern.needs();
    std::erase_if(long_ones, has_short_word);
    if (long_ones.size() < 2) continue;
    for (const Need need : long_ones) entry.needs.push_back(needs.number_of(need));
  }
  need_of_ = std::move(needs.need_of);
  needs_ = needs.count();
  return std::move(needs.words);
}

void TextIndex::Line::search(std::string_view line) {
  index_.needed_.scan(line, [this](std::size_t word) { seen_[index_.need_of_[word]] = line_; });
}

bool TextIndex::Line::has_all(const std::vector<std::uint32_t>& needs) const {
  return std::all_of(needs.begin(), needs.end(),
                     [this](std::uint32_t need) { return seen_[need] == line_; });
}

}  // namespace gdr::explain
