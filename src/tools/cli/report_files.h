// --report FILE: the answer as files, each in the form that its name's ending says. The same option
// in every subcommand whose answer is worth keeping.
//
//   ReportFiles files({".json", ".html"});
//   files.add_to(command, ".json; .html: a page with curves");
//   if (Result<void> writable = files.check(); !writable) ...  // before the work
//   files.write([&](std::string_view ending) { return ending == ".json" ? json() : page(); });
#pragma once

#include <CLI/CLI.hpp>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"

namespace gdr::cli {

class ReportFiles {
 public:
  // Of ".json", ".csv", ".html", ".md" and ".svg" those that the subcommand has.
  explicit ReportFiles(std::vector<std::string> endings) : endings_(std::move(endings)) {}

  // `forms` says what each ending is, where there are several. A name with another ending is wrong
  // use. The command holds the address of this.
  CLI::Option* add_to(CLI::App& command, const std::string& forms = {});

  bool empty() const { return files_.empty(); }
  bool has(std::string_view ending) const;
  // Whether all of them can be written.
  Result<void> check() const;
  // Each file whole or not at all. `text_of` gets one of the endings, also where the name has
  // another spelling of it (.htm, .markdown).
  Result<void> write(const std::function<std::string(std::string_view ending)>& text_of) const;

 private:
  std::string ending_of(std::string_view file) const;
  std::string problem_of(const std::string& file) const;

  std::vector<std::string> endings_, files_;
};

// "run.txt", ".html" -> "run.html"
std::string with_ending(const std::string& file, const std::string& ending);

}  // namespace gdr::cli
