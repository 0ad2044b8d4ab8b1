// The documents of `gdr explain --json`, described in docs/explain.md.
#pragma once

#include <string>
#include <vector>

#include "explain/confirmation.h"
#include "explain/recogniser.h"
#include "nccl/judge.h"
#include "text/envelope.h"

namespace gdr::explain {

// `examined`: the host on which checks were run; empty: none. `connections`: of a log of NCCL;
// null: not read. `guesses`: where nothing was recognised.
std::string to_json(const Explanation& explanation, const std::string& name,
                    const Confirmations& confirmations, const std::string& examined,
                    const nccl::Report* connections = nullptr,
                    const std::vector<const Symptom*>& guesses = {},
                    const text::Provenance& provenance = {});
// Those that a search found, the nearest first.
std::string found_json(const std::vector<const Symptom*>& found,
                       const text::Provenance& provenance = {});
// The whole table.
std::string list_json(const SymptomTable& table, const text::Provenance& provenance = {});
std::string page_json(const Symptom& symptom, const text::Provenance& provenance = {});

}  // namespace gdr::explain
