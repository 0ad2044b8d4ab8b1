// SymptomTable: all symptoms that are known, this program's own and those of a site.
//
//   const Symptom* symptom = SymptomTable::built_in().find("mr-bad-address");
//   std::vector<Fault> faults;
//   const SymptomTable more = SymptomTable::with("/etc/gdrkit/symptoms", faults);
#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "explain/symptom.h"
#include "explain/symptom_file.h"

namespace gdr::explain {

// What the build took from knowledge/symptoms.
struct EmbeddedFile {
  std::string_view path;  // CHAPTER/ID.txt
  std::string_view text;
};
std::span<const EmbeddedFile> embedded_symptoms();

class SymptomTable {
 public:
  // In the order of the handbook: by chapter, then by name.
  explicit SymptomTable(std::vector<Symptom> symptoms);

  static const SymptomTable& built_in();
  // Besides those of a folder with CHAPTER/ID.txt; one of the same name takes the place of ours.
  // Whatever is wrong with a file is added to `faults`, and the file left out.
  static SymptomTable with(const std::string& folder, std::vector<Fault>& faults);

  [[nodiscard]] const std::vector<Symptom>& all() const { return all_; }
  // Null: there is none of this id.
  [[nodiscard]] const Symptom* find(std::string_view id) const;

 private:
  std::vector<Symptom> all_;
  std::vector<std::size_t> by_id_;  // places in all_
};

}  // namespace gdr::explain
