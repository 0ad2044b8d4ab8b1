// What must hold of every symptom, whoever adds it.
#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <set>
#include <string>

#include "explain/pattern.h"
#include "explain/symptom.h"
#include "explain/word_set.h"

namespace gdr::explain {
namespace {

bool is_id(const std::string& text) {
  return !text.empty() && std::all_of(text.begin(), text.end(), [](char c) {
    return (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9') || c == '-';
  });
}

// Whether `from` explains `to`, over others.
bool leads_to(const Symptom& from, const Symptom& to, std::size_t depth) {
  if (&from == &to || depth > all_symptoms().size()) return true;
  return std::any_of(from.explains.begin(), from.explains.end(), [&](const char* id) {
    const Symptom* next = find_symptom(id);
    return next != nullptr && leads_to(*next, to, depth + 1);
  });
}

TEST(Symptoms, HaveIdsOfTheirOwn) {
  std::set<std::string> ids;
  for (const Symptom* symptom : all_symptoms()) {
    EXPECT_TRUE(is_id(symptom->id)) << symptom->id;
    EXPECT_TRUE(ids.insert(symptom->id).second) << symptom->id;
    EXPECT_EQ(find_symptom(symptom->id), symptom);
  }
  EXPECT_GE(ids.size(), 100u);
  EXPECT_EQ(find_symptom("no-such-symptom"), nullptr);
}

TEST(Symptoms, SayEverythingThatAReaderNeeds) {
  for (const Symptom* symptom : all_symptoms()) {
    const std::string fixes = std::string(symptom->fix_now) + std::string(symptom->fix_for_good);
    for (const std::string& text : {std::string(symptom->title), std::string(symptom->cause),
                                    std::string(symptom->consequence), fixes}) {
      EXPECT_FALSE(text.empty()) << symptom->id;
      EXPECT_EQ(text.find('\n'), std::string::npos) << symptom->id;
      EXPECT_EQ(std::count(text.begin(), text.end(), '`') % 2, 0) << text;
    }
    EXPECT_TRUE(std::string(symptom->cause).ends_with('.')) << symptom->id;
    EXPECT_TRUE(std::string(symptom->consequence).ends_with('.')) << symptom->id;
    EXPECT_FALSE(symptom->texts.empty()) << symptom->id;
  }
}

TEST(Symptoms, NameTheirSources) {
  for (const Symptom* symptom : all_symptoms()) {
    EXPECT_FALSE(symptom->sources.empty()) << symptom->id;
    for (const Source& source : symptom->sources) {
      EXPECT_TRUE(std::string(source.url).starts_with("https://")) << symptom->id;
    }
    // The answer shows the first ones only.
    EXPECT_TRUE(
        std::is_partitioned(symptom->sources.begin(), symptom->sources.end(),
                            [](const Source& source) { return source.stated != Stated::kSymptom; }))
        << symptom->id;
  }
}

// In a circle nothing would be the cause.
TEST(Symptoms, ExplainOthersThatThereAreAndNeverThemselves) {
  for (const Symptom* symptom : all_symptoms()) {
    for (const char* effect : symptom->explains) {
      const Symptom* other = find_symptom(effect);
      ASSERT_NE(other, nullptr) << symptom->id << " explains " << effect;
      EXPECT_FALSE(leads_to(*other, *symptom, 0)) << symptom->id << " and " << effect;
    }
    for (const char* check : symptom->checks) EXPECT_TRUE(is_id(check)) << symptom->id;
  }
}

// A line is searched for words that the text needs. Where all of them were short, they would be
// found everywhere: a text that has only such ones, as an idea in anybody's words has, needs
// something else besides.
TEST(Symptoms, AreRecognisedByWordsOfTheirOwn) {
  const auto has_long_need = [](const Pattern& pattern, std::size_t least) {
    const auto needs = pattern.needs();
    return std::any_of(needs.begin(), needs.end(), [&](const auto& need) {
      return std::all_of(need.begin(), need.end(),
                         [&](const std::string& word) { return word.size() >= least; });
    });
  };
  for (const Symptom* symptom : all_symptoms()) {
    for (const Text& text : symptom->texts) {
      const std::string words = text.pattern;
      const bool has_more = words.find("&&") != std::string::npos;
      EXPECT_TRUE(has_long_need(Pattern(words), has_more ? 4 : 7)) << words;
      EXPECT_LT(text.part, 31u) << words;
      EXPECT_EQ(words.find("  "), std::string::npos) << "lines are searched with single spaces";
    }
    for (const char* text : symptom->unless) EXPECT_FALSE(Pattern(text).needs().empty()) << text;
  }
}

// A mistyped name would be looked for as it is.
TEST(Symptoms, NameOnlyHolesAndSetsThatThereAre) {
  const std::set<std::string> holes = {"", "number", "above-zero", "word", "end"};
  for (const Symptom* symptom : all_symptoms()) {
    for (const Text& text : symptom->texts) {
      const std::string words = text.pattern;
      for (std::size_t at = words.find('{'); at != std::string::npos;
           at = words.find('{', at + 1)) {
        const std::string name = words.substr(at + 1, words.find('}', at) - at - 1);
        EXPECT_TRUE(holes.count(name) == 1 || find_word_set(name) != nullptr) << words;
      }
    }
  }
}

// Parts 1 and 2 are a pair, 3 and 4 the next.
TEST(Symptoms, HaveBothHalvesOfEveryPair) {
  for (const Symptom* symptom : all_symptoms()) {
    std::set<unsigned> parts;
    for (const Text& text : symptom->texts) parts.insert(text.part);
    for (const unsigned part : parts) {
      if (part == 0) continue;
      EXPECT_EQ(parts.count(part % 2 == 1 ? part + 1 : part - 1), 1u) << symptom->id << ' ' << part;
    }
  }
}

// Two symptoms would both be said of the same line.
TEST(Symptoms, DoNotShareAText) {
  std::map<std::string, std::string> of;
  for (const Symptom* symptom : all_symptoms()) {
    for (const Text& text : symptom->texts) {
      if (text.part > 0) continue;
      const auto [at, added] = of.emplace(text.pattern, symptom->id);
      EXPECT_TRUE(added) << text.pattern << ": " << at->second << " and " << symptom->id;
    }
  }
}

}  // namespace
}  // namespace gdr::explain
