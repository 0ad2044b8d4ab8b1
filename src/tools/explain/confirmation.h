// What the checks of `gdr doctor` find on this host about a symptom.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "explain/symptom.h"

namespace gdr::explain {

struct Confirmation {
  std::string check;  // its id
  // "ok", "warn", "fail", "unknown"; "not run"; empty: it does not apply here
  std::string outcome;
  std::string summary;  // one line
};
using Confirmations = std::map<const Symptom*, std::vector<Confirmation>>;

}  // namespace gdr::explain
