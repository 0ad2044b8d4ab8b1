// What is said of a command: how it is called, what it is for, its exit status, files and examples.
// `gdr CMD --help` and the manual page gdr-CMD(1) are made of it, together with the descriptions of
// the options, which stand in the subcommand's own file (src/tools/cli).
//
//   if (const Page* page = find_page("gdr doctor capture")) show(page->examples);
#pragma once

#include <string_view>
#include <vector>

namespace gdr::manual {

struct Usage {
  const char* words;  // "gdr perf HOST [OPTIONS]": words in capitals stand for what the user types
  const char* note = "";
};

// An exit status or a file.
struct Entry {
  const char* term;
  const char* text;
};

struct Example {
  const char* command;  // a line that can be pasted into a shell
  const char* note = "";
};

// Plain text: paragraphs are one string each, and whoever shows them breaks the lines.
struct Page {
  const char* name = "";  // as typed: "gdr doctor capture"
  std::vector<Usage> usages = {};
  std::vector<const char*> help = {};         // paragraphs for --help and for the manual page
  std::vector<const char*> description = {};  // further ones, for the manual page
  const char* exit_note = "";                 // where the status is not only ours
  std::vector<Entry> exit_status = {};
  std::vector<const char*> variables = {};  // names, see variables.h
  std::vector<Entry> files = {};
  std::vector<Example> examples = {};
  std::vector<const char*> see_also = {};  // "gdr-fix(1)", "rsocket(7)"
};

// Null: there is no such command, or it is not for people.
const Page* find_page(std::string_view name);

// In the order of `gdr --help`, nested ones behind their command.
const std::vector<Page>& all_pages();

}  // namespace gdr::manual
