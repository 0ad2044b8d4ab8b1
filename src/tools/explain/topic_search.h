// TopicSearch: the symptoms that a text is nearest to by its words alone, for who searches, and as
// guesses where none is recognised. Ranked by Okapi BM25 (Robertson and Zaragoza, "The
// Probabilistic Relevance Framework", 2009) over all that the files of the symptoms say.
//
//   const TopicSearch search(SymptomTable::built_in());
//   for (const Symptom* symptom : search.nearest("GDR is slow", 3)) puts(symptom->title.c_str());
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "explain/symptom_table.h"

namespace gdr::explain {

class TopicSearch {
 public:
  // The table must outlive it.
  explicit TopicSearch(const SymptomTable& symptoms);

  // Those that share the most telling words with `text`, the nearest first. Of two words or more
  // they share two.
  [[nodiscard]] std::vector<const Symptom*> nearest(std::string_view text, std::size_t most) const;

 private:
  struct Place {
    std::uint32_t symptom;
    float times;  // that it has the word; more in titles
  };

  const SymptomTable& symptoms_;
  std::unordered_map<std::string, std::vector<Place>> places_;  // by word
  std::vector<float> lengths_;                                  // in words, by symptom
  float average_length_ = 0;
};

}  // namespace gdr::explain
