// What must hold of every symptom, whoever adds it: a pattern that looks for nothing, or a name
// that nothing has, would be found by nobody.
#pragma once

#include <vector>

#include "explain/symptom.h"
#include "explain/symptom_file.h"

namespace gdr::explain {

class SymptomTable;
class TextIndex;

// Of each by itself.
void check_symptom(const Symptom& symptom, std::vector<Fault>& faults);
// Of all together: names that others have, texts that two share, circles of causes.
void check_together(const SymptomTable& table, std::vector<Fault>& faults);
// What was seen must be recognised, as this before anything else. Only a site's own, unless `all`.
void check_seen(const TextIndex& texts, bool all, std::vector<Fault>& faults);

}  // namespace gdr::explain
