// The documents of `gdr explain --json`, described in docs/explain.md.
#pragma once

#include <string>

#include "explain/confirmation.h"
#include "explain/recogniser.h"
#include "nccl/judge.h"

namespace gdr::explain {

// `connections`: of a log of NCCL; null: not read.
std::string to_json(const Explanation& explanation, const std::string& name,
                    const Confirmations& confirmations, const std::string& host,
                    const nccl::Report* connections = nullptr);
// The whole table, from which the handbook is made.
std::string list_json();
std::string page_json(const Symptom& symptom);

}  // namespace gdr::explain
