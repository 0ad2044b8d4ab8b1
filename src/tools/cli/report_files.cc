#include "cli/report_files.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>

#include "base/output_file.h"

namespace gdr::cli {
namespace {

constexpr std::array<std::pair<std::string_view, std::string_view>, 2> kOtherSpellings = {
    {{".htm", ".html"}, {".markdown", ".md"}}};

}  // namespace

std::string with_ending(const std::string& file, const std::string& ending) {
  const std::size_t name = file.rfind('/') + 1, dot = file.rfind('.');
  const bool has_ending = dot != std::string::npos && dot > name;
  return (has_ending ? file.substr(0, dot) : file) + ending;
}

CLI::Option* ReportFiles::add_to(CLI::App& command, const std::string& forms) {
  const auto problem = [this](const std::string& file) { return problem_of(file); };
  const std::string which = endings_.size() == 1
                                ? "the document to FILE, which ends in " + endings_.front()
                                : "FILE, in the form that its ending says: " + forms;
  return command.add_option("--report", files_, "Also write " + which + "; may be repeated")
      ->type_name("FILE")
      ->allow_extra_args(false)
      ->check(CLI::Validator(problem, "", "report"));
}

bool ReportFiles::has(std::string_view ending) const {
  return std::any_of(files_.begin(), files_.end(),
                     [&](const std::string& file) { return ending_of(file) == ending; });
}

Result<void> ReportFiles::check() const {
  for (const std::string& file : files_) {
    if (Result<void> writable = check_output(file); !writable) return writable;
  }
  return {};
}

Result<void> ReportFiles::write(
    const std::function<std::string(std::string_view ending)>& text_of) const {
  for (const std::string& file : files_) {
    if (Result<void> written = write_output(file, text_of(ending_of(file))); !written) {
      return written;
    }
  }
  return {};
}

// Empty: none of those that the subcommand has.
std::string ReportFiles::ending_of(std::string_view file) const {
  std::string_view ending = file.substr(std::min(file.rfind('.'), file.size()));
  for (const auto& [other, ours] : kOtherSpellings) {
    if (ending == other) ending = ours;
  }
  const bool known = std::find(endings_.begin(), endings_.end(), ending) != endings_.end();
  return known ? std::string(ending) : std::string();
}

std::string ReportFiles::problem_of(const std::string& file) const {
  if (file.empty() || !ending_of(file).empty()) return "";  // an empty one has its own line
  const bool has_page = std::find(endings_.begin(), endings_.end(), ".html") != endings_.end();
  return fmt::format("'{}' does not end in {}; type: --report {}", file,
                     fmt::join(endings_, " or "),
                     with_ending(file, has_page ? ".html" : endings_.front()));
}

}  // namespace gdr::cli
