// The text of lspci as people send it: with the prompt and the command in front of it, between the
// fences of Markdown, quoted by '>', moved in by spaces, with the line ends or the characters of
// Windows. What is no text of lspci becomes an empty line, so that lines keep their numbers.
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

// In UTF-8, without the mark that Windows puts in front: what `>` of PowerShell writes is UTF-16.
std::string without_windows(std::string text);

}  // namespace gdr::host
