#include "explain/symptom_table.h"

#include <fmt/format.h>

#include <algorithm>
#include <numeric>
#include <tuple>

#include "base/printable.h"
#include "explain/symptom_check.h"
#include "host/files.h"

namespace gdr::explain {
namespace {

// Files::text() reads no more.
constexpr std::size_t kLongestFile = std::size_t{64} << 10;

std::vector<Symptom> read_embedded() {
  std::vector<Symptom> symptoms;
  std::vector<Fault> none;  // A test says that there is none.
  for (const EmbeddedFile& file : embedded_symptoms()) {
    symptoms.push_back(read_symptom(file.path, file.text, none));
  }
  return symptoms;
}

// What is no file of a symptom is told of: a mistyped ending would be seen by nobody.
std::vector<std::string> files_below(const host::Files& files, std::vector<Fault>& faults) {
  std::vector<std::string> paths;
  for (const std::string& chapter : files.entries("")) {
    if (chapter.ends_with(".txt")) faults.push_back({chapter, 0, "not CHAPTER/ID.txt"});
    for (const std::string& name : files.entries(chapter)) {
      const std::string path = chapter + "/" + name;
      if (name.ends_with(".txt")) {
        paths.push_back(path);
      } else {
        faults.push_back({path, 0, "not CHAPTER/ID.txt"});
      }
    }
  }
  return paths;
}

}  // namespace

SymptomTable::SymptomTable(std::vector<Symptom> symptoms)
    : all_(std::move(symptoms)), by_id_(all_.size()) {
  std::ranges::sort(all_, {}, [](const Symptom& one) { return std::tie(one.program, one.id); });
  std::iota(by_id_.begin(), by_id_.end(), 0);
  std::ranges::stable_sort(by_id_, {},
                           [this](std::size_t i) { return std::string_view(all_[i].id); });
}

const SymptomTable& SymptomTable::built_in() {
  static const SymptomTable table(read_embedded());
  return table;
}

SymptomTable SymptomTable::with(const std::string& folder, std::vector<Fault>& faults) {
  std::vector<Symptom> symptoms = built_in().all();
  const host::Files files(folder);
  if (!files.problem().empty()) faults.push_back({folder, 0, files.problem()});
  const std::vector<std::string> paths = files_below(files, faults);
  if (paths.empty() && faults.empty()) faults.push_back({folder, 0, "no file CHAPTER/ID.txt"});
  for (const std::string& path : paths) {
    const std::string text = files.text(path);
    const std::size_t before = faults.size();
    Symptom symptom = read_symptom(path, text, faults);
    if (text.size() >= kLongestFile) faults.push_back({path, 0, "longer than 64 KiB"});
    check_symptom(symptom, faults);
    if (faults.size() != before) continue;
    symptom.site = folder;
    std::erase_if(symptoms,
                  [&](const Symptom& one) { return one.site.empty() && one.id == symptom.id; });
    symptoms.push_back(std::move(symptom));
  }
  SymptomTable table(std::move(symptoms));
  check_together(table, faults);
  return table;
}

const Symptom* SymptomTable::find(std::string_view id) const {
  const auto at = std::ranges::lower_bound(
      by_id_, id, {}, [this](std::size_t i) { return std::string_view(all_[i].id); });
  return at != by_id_.end() && all_[*at].id == id ? &all_[*at] : nullptr;
}

}  // namespace gdr::explain
