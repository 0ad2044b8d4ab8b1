#include "explain/topic_search.h"

#include <algorithm>
#include <cmath>
#include <set>

namespace gdr::explain {
namespace {

// The usual constants: how soon more of the same word says no more, and how much long texts lose.
constexpr float kSaturation = 1.2F;
constexpr float kLengthMatters = 0.75F;

constexpr float kInTitle = 3;
constexpr float kInTexts = 2;

bool is_of_a_word(char c) { return (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9') || c == '_'; }

// "drivers" and "driver" are one word.
std::string_view without_plural(std::string_view word) {
  return word.size() > 3 && word.ends_with('s') && !word.ends_with("ss")
             ? word.substr(0, word.size() - 1)
             : word;
}

// Names of calls count as a whole and in their parts: "ibv_reg_mr", "ibv", "reg", "mr".
template <typename Sink>
void each_word(std::string_view text, const Sink& sink) {
  std::string folded(text);
  for (char& c : folded) c = static_cast<char>(c >= 'A' && c <= 'Z' ? c - 'A' + 'a' : c);
  for (std::size_t begin = 0; begin < folded.size();) {
    std::size_t end = begin;
    while (end < folded.size() && is_of_a_word(folded[end])) ++end;
    const std::string_view word = std::string_view(folded).substr(begin, end - begin);
    begin = end + 1;
    if (word.size() < 2) continue;
    sink(std::string(without_plural(word)));
    if (word.find('_') == std::string_view::npos) continue;
    for (std::size_t at = 0; at < word.size();) {
      const std::size_t stop = std::min(word.find('_', at), word.size());
      if (stop - at > 1) sink(std::string(without_plural(word.substr(at, stop - at))));
      at = stop + 1;
    }
  }
}

template <typename Sink>
void each_part(const Symptom& symptom, const Sink& sink) {
  sink(symptom.title, kInTitle);
  sink(symptom.id, kInTitle);
  for (const Text& text : symptom.texts) sink(text.pattern, kInTexts);
  for (const SeenText& seen : symptom.seen) sink(seen.text, 1.0F);
  sink(symptom.cause, 1.0F);
  sink(symptom.consequence, 1.0F);
  for (const auto* fix : {&symptom.fix_now, &symptom.fix_for_good}) {
    for (const Step& step : *fix) sink(step.text, 1.0F);
  }
}

}  // namespace

TopicSearch::TopicSearch(const SymptomTable& symptoms) : symptoms_(symptoms) {
  float all = 0;
  for (const Symptom& symptom : symptoms.all()) {
    const auto place = static_cast<std::uint32_t>(lengths_.size());
    float length = 0;
    each_part(symptom, [&](std::string_view part, float weight) {
      each_word(part, [&](const std::string& word) {
        std::vector<Place>& places = places_[word];
        if (places.empty() || places.back().symptom != place) places.push_back({place, 0});
        places.back().times += weight;
        length += weight;
      });
    });
    lengths_.push_back(length);
    all += length;
  }
  average_length_ = lengths_.empty() ? 1 : all / static_cast<float>(lengths_.size());
}

std::vector<const Symptom*> TopicSearch::nearest(std::string_view text, std::size_t most) const {
  std::set<std::string> words;
  each_word(text, [&](std::string word) { words.insert(std::move(word)); });
  const auto count = static_cast<float>(lengths_.size());
  std::vector<float> scores(lengths_.size());
  std::vector<unsigned> shared(lengths_.size());
  for (const std::string& word : words) {
    const auto found = places_.find(word);
    if (found == places_.end()) continue;
    const auto having = static_cast<float>(found->second.size());
    const float rarity = std::log(1 + (count - having + 0.5F) / (having + 0.5F));
    for (const Place& place : found->second) {
      const float length = lengths_[place.symptom] / average_length_;
      const float fullness = kSaturation * (1 - kLengthMatters + kLengthMatters * length);
      scores[place.symptom] += rarity * place.times * (kSaturation + 1) / (place.times + fullness);
      ++shared[place.symptom];
    }
  }
  const unsigned least = words.size() > 1 ? 2 : 1;
  std::vector<std::size_t> order;
  for (std::size_t i = 0; i < scores.size(); ++i) {
    if (shared[i] >= least) order.push_back(i);
  }
  std::ranges::stable_sort(order,
                           [&](std::size_t a, std::size_t b) { return scores[a] > scores[b]; });
  if (order.size() > most) order.resize(most);
  std::vector<const Symptom*> nearest;
  for (const std::size_t i : order) nearest.push_back(&symptoms_.all()[i]);
  return nearest;
}

}  // namespace gdr::explain
