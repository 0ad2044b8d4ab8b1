#include "explain/text_index.h"

#include <algorithm>
#include <span>
#include <unordered_map>
#include <utility>

namespace gdr::explain {
namespace {

using Need = std::span<const std::string>;

std::vector<TextIndex::Entry> entries_of(const std::vector<const Symptom*>& symptoms) {
  std::vector<TextIndex::Entry> entries;
  for (std::size_t place = 0; place < symptoms.size(); ++place) {
    const Symptom& symptom = *symptoms[place];
    for (const Text& text : symptom.texts) {
      entries.push_back({place, text.part, text.scope, Pattern(text.pattern)});
    }
    for (const char* pattern : symptom.unless) {
      entries.push_back({place, TextIndex::kUnless, Scope::kOwn, Pattern(pattern)});
    }
  }
  return entries;
}

// The symptoms' own explanations are a sample of what logs are written in.
GramCounts prose_of(const std::vector<const Symptom*>& symptoms) {
  GramCounts prose;
  std::string buffer;
  for (const Symptom* symptom : symptoms) {
    for (const char* text : {symptom->title, symptom->cause, symptom->consequence, symptom->fix_now,
                             symptom->fix_for_good}) {
      prose.add(folded(text, buffer));
    }
    for (const Text& text : symptom->texts) prose.add(folded(text.pattern, buffer));
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

}  // namespace

TextIndex::TextIndex(const std::vector<const Symptom*>& symptoms, std::vector<std::string> marks)
    : entries_(entries_of(symptoms)), marks_(marks.size()), scanner_([&] {
        const GramCounts prose = prose_of(symptoms);
        std::vector<std::string> words = std::move(marks);
        std::unordered_map<std::string_view, std::size_t> places;  // in behind_
        for (std::size_t entry = 0; entry < entries_.size(); ++entry) {
          for (const std::string& word : rarest_of(entries_[entry].pattern.needs(), prose)) {
            const auto [place, added] = places.emplace(word, behind_.size());
            if (added) {
              words.push_back(word);
              behind_.emplace_back();
            }
            behind_[place->second].push_back(entry);
          }
        }
        return Scanner(std::move(words), prose);
      }()) {}

}  // namespace gdr::explain
