// Where and when a report was made, for its head.
#pragma once

#include <string>

namespace gdr::cli {

std::string name_of_this_host();
// "2026-11-26 10:12 UTC"
std::string time_now();

// Whether a report of this name is Markdown, to paste; and whether it is a report's name at all,
// which ends in .html, .htm, .md or .markdown.
bool is_markdown_name(const std::string& file);
bool is_report_name(const std::string& file);

}  // namespace gdr::cli
