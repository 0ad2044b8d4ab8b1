// What `gdr explain` recognises in a text, as tests compare it.
//
//   EXPECT_EQ(causes_in("Couldn't allocate MR with error=14"), Ids{"mr-bad-address"});
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "explain/recogniser.h"

namespace gdr::explain {

inline bool says(std::string_view text, std::string_view words) {
  return text.find(words) != std::string_view::npos;
}

using Ids = std::vector<std::string>;

inline Explanation explain(std::string_view text) {
  Recogniser recogniser;
  recogniser.feed(text);
  return recogniser.finish();
}

// Ids of all that is recognised, in the order in which it is shown.
inline Ids ids(const Explanation& explanation) {
  Ids list;
  for (const Recognition& found : explanation.found) list.emplace_back(found.symptom->id);
  return list;
}

// The one that is shown first; empty if there is none.
inline std::string first_of(std::string_view text) {
  const Ids found = ids(explain(text));
  return found.empty() ? "" : found.front();
}

// Ids of what is shown in full: causes, not what follows from them.
inline Ids causes_in(std::string_view text) {
  Ids list;
  for (const Recognition& found : explain(text).found) {
    if (found.because_of == nullptr) list.emplace_back(found.symptom->id);
  }
  return list;
}

}  // namespace gdr::explain
