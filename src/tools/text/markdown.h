// Text as Markdown for public places such as an issue: what stands for a host (MAC addresses, GIDs,
// IP addresses) is left out, and no name can become a link, a mention of somebody, a reference to
// an issue, or markup.
//
//   page += "| GPU | " + escape_markdown(name) + " |\n";
//   page += folded_markdown("Topology", fenced_markdown("", tree));
#pragma once

#include <string>
#include <string_view>

namespace gdr::text {

std::string escape_markdown(std::string_view given);

// A block of code, fenced by more backticks than stand anywhere in it.
std::string fenced_markdown(const std::string& language, const std::string& content);

// Behind a title that a reader opens.
std::string folded_markdown(const std::string& title, const std::string& content);

// Addresses of PCI have two colons, and stay; so do those of the own machine.
std::string without_addresses(std::string_view given);

}  // namespace gdr::text
