// What `gdr explain` prints: lines to be wrapped at kTextIndent.
#pragma once

#include <string>
#include <vector>

#include "explain/confirmation.h"
#include "explain/recogniser.h"
#include "text/style.h"

namespace gdr::explain {

constexpr std::size_t kTextIndent = 13;
// A line that begins with so many spaces is a command and is not to be broken.
constexpr std::size_t kCommandIndent = kTextIndent + 2;

// `name`: of the file, or "standard input". `host`: where the checks were carried out.
std::string to_text(const Explanation& explanation, const std::string& name,
                    const Confirmations& confirmations, const std::string& host,
                    const text::Style& style = {});
// One symptom, as --symptom shows it.
std::string to_page(const Symptom& symptom);
// What a search found, below a heading; empty if that is nothing.
std::string to_nearest(std::string_view heading, const std::vector<const Symptom*>& nearest);
// All of them, a line each, by program.
std::string to_list(const SymptomTable& table);

}  // namespace gdr::explain
