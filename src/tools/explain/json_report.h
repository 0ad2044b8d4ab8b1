// The documents of `gdr explain --json`, described in docs/explain.md.
#pragma once

#include <string>

#include "explain/confirmation.h"
#include "explain/recogniser.h"
#include "nccl/judge.h"
#include "text/envelope.h"

namespace gdr::explain {

// `examined`: the host on which checks were run; empty: none. `connections`: of a log of NCCL;
// null: not read.
std::string to_json(const Explanation& explanation, const std::string& name,
                    const Confirmations& confirmations, const std::string& examined,
                    const nccl::Report* connections = nullptr,
                    const text::Provenance& provenance = {});
// The whole table, from which the handbook is made.
std::string list_json(const text::Provenance& provenance = {});
std::string page_json(const Symptom& symptom, const text::Provenance& provenance = {});

}  // namespace gdr::explain
