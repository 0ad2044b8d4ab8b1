// Pieces of a self-contained page for a ticket. Nothing in it is loaded or carried out: whatever a
// machine says of itself stays text.
//
//   page = page_head("gdr doctor: node7") + "<table class=\"facts\">" + page_fact("host", name) + …
#pragma once

#include <string>

namespace gdr::text {

// From the document's type to the begin of its body, with the style: tables of class "facts" and
// "figures" (in an element of class "wide", which scrolls), and the colours "fail", "warn", "ok",
// "unknown" and "quiet".
std::string page_head(const std::string& title);

// A row of a table of class "facts"; nothing where there is no value.
std::string page_fact(const std::string& name, const std::string& value);

// `escape_markup` of each line; line feeds stay.
std::string escaped_lines(const std::string& given);

}  // namespace gdr::text
