// Reads one file of a symptom. What its sections are: knowledge/symptoms/README.md.
//
//   std::vector<Fault> faults;
//   const Symptom symptom = read_symptom("verbs/mr-bad-address.txt", text, faults);
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "explain/symptom.h"

namespace gdr::explain {

// What is wrong in a file of symptoms.
struct Fault {
  std::string file;
  unsigned line = 0;  // from 1; 0: of the file as a whole
  std::string what;

  // "verbs/a.txt:3: unknown section 'couse'; ..."
  [[nodiscard]] std::string shown() const;
};

// `path`: CHAPTER/ID.txt. Adds to `faults` whatever cannot be understood or is missing; what is
// returned then has the rest.
Symptom read_symptom(std::string_view path, std::string_view text, std::vector<Fault>& faults);

}  // namespace gdr::explain
