// What must hold of every symptom, whoever adds it.
#include <gtest/gtest.h>

#include <algorithm>
#include <set>
#include <string>

#include "explain/pattern.h"
#include "explain/symptom.h"

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
  EXPECT_GE(ids.size(), 30u);
  EXPECT_EQ(find_symptom("no-such-symptom"), nullptr);
}

TEST(Symptoms, SayEverythingThatAReaderNeeds) {
  for (const Symptom* symptom : all_symptoms()) {
    const std::string fixes = std::string(symptom->fix_now) + symptom->fix_for_good;
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

// A short or common anchor would match everywhere, and a unit that begins with a hole cannot be
// searched for.
TEST(Symptoms, AreRecognisedByWordsOfTheirOwn) {
  for (const Symptom* symptom : all_symptoms()) {
    for (const Text& text : symptom->texts) {
      EXPECT_GE(Pattern(text.pattern).anchor().size(), 8u) << text.pattern;
      EXPECT_LT(text.part, 8u) << text.pattern;
      const std::string words = text.pattern;
      for (std::size_t at = 0; at != std::string::npos; at = words.find("{}", at + 1)) {
        const std::size_t begin = at == 0 ? 0 : at + 2;
        EXPECT_NE(words.substr(begin, 1), "{") << words;
        EXPECT_LT(begin, words.size()) << words;
      }
      EXPECT_EQ(words.find("  "), std::string::npos) << "lines are searched with single spaces";
    }
  }
}

}  // namespace
}  // namespace gdr::explain
