// Text of lspci and XML as people send them: with the prompt and the command in front of it,
// between the fences of Markdown, quoted by '>', moved in by spaces, with the line ends or the
// characters of Windows. What is neither becomes an empty line, so that lines keep their numbers.
//
//   PastedLspci pasted = unwrap_lspci(text);
//   if (!pasted.tree.empty()) read_lspci_tree(pasted.tree);
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

namespace gdr::host {

struct PastedLspci {
  std::string tree, verbose;  // of lspci -tv and of lspci -vvv; empty: there is none
  std::size_t skipped = 0;    // lines that are neither and not empty
  std::string example;        // the first of them
};

PastedLspci unwrap_lspci(std::string_view text);

struct PastedXml {
  std::string document;
  std::size_t skipped = 0;  // lines before and behind it that are not empty
  std::string example;      // the first of them
};

// From the line in which the document begins to the one in which its element ends. Text without
// either is left as it is.
PastedXml unwrap_xml(std::string_view text);

// "1 line skipped that is not from lspci: '$ lspci -tv'"; empty: none was.
std::string skipped_note(std::size_t skipped, const std::string& source,
                         const std::string& example);

// In UTF-8, without the mark that Windows puts in front: what `>` of PowerShell writes is UTF-16.
std::string without_windows(std::string text);

}  // namespace gdr::host
