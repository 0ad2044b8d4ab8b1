#include "cli/manual_command.h"

#include <fmt/format.h>
#include <time.h>

#include <cstdio>
#include <filesystem>

#include "base/environment.h"
#include "base/output_file.h"
#include "cli/app_tree.h"
#include "cli/help.h"
#include "cli/perftest.h"
#include "cli/program.h"
#include "manual/man_page.h"
#include "version/version.h"

namespace gdr::cli {
namespace {

constexpr const char* kSoftPage = "gdr-soft";

// SOURCE_DATE_EPOCH makes builds repeatable (reproducible-builds.org).
std::string date_of_pages() {
  time_t now = time(nullptr);
  if (const auto given = environment("SOURCE_DATE_EPOCH")) {
    if (const auto seconds = parse_number(*given, 0, 1ull << 40)) {
      now = static_cast<time_t>(*seconds);
    }
  }
  tm parts{};
  gmtime_r(&now, &parts);
  constexpr const char* kMonths[] = {"January",   "February", "March",    "April",
                                     "May",       "June",     "July",     "August",
                                     "September", "October",  "November", "December"};
  return fmt::format("{} {}, {}", kMonths[parts.tm_mon], parts.tm_mday, parts.tm_year + 1900);
}

const manual::Edition& edition() {
  static const manual::Edition edition{program_version(), date_of_pages()};
  return edition;
}

std::string page_of(const CLI::App& app) {
  const manual::Command command = describe(app);
  const manual::Page* page = manual::find_page(command.name);
  if (page == nullptr) return "";
  const bool is_perf = command.name == "gdr perf";
  return manual::man_page(command, *page, edition(),
                          is_perf ? perftest_aliases() : manual::Aliases{});
}

// The subcommand itself, and all below it.
std::vector<const CLI::App*> all_commands(const CLI::App& app) {
  std::vector<const CLI::App*> all{&app};
  for (const CLI::App* below : shown_subcommands(app)) {
    for (const CLI::App* one : all_commands(*below)) all.push_back(one);
  }
  return all;
}

int fail(const std::string& reason, int status) {
  say("gdr __manual: " + reason);
  return status;
}

int print_page(const CLI::App& program, const std::string& name) {
  std::string text;
  if (name == kSoftPage) text = manual::soft_page(edition());
  for (const CLI::App* app : all_commands(program)) {
    if (manual::page_name(full_name(*app)) == name) text = page_of(*app);
  }
  if (text.empty()) return fail("no page '" + name + "'", kWrongUse);
  std::fputs(text.c_str(), stdout);
  return 0;
}

int write_pages(const CLI::App& program, const std::filesystem::path& folder) {
  std::error_code error;
  for (const char* section : {"man1", "man7"}) {
    std::filesystem::create_directories(folder / section, error);
    if (error) return fail((folder / section).string() + ": " + error.message(), kFailed);
  }
  const auto write = [&](const std::string& file, const std::string& text) {
    return write_output(folder / file, text);
  };
  Result<void> written =
      write(std::string("man7/") + kSoftPage + ".7", manual::soft_page(edition()));
  for (const CLI::App* app : all_commands(program)) {
    if (!written) return fail(written.error().message, kFailed);
    const std::string name = manual::page_name(full_name(*app)), text = page_of(*app);
    if (text.empty()) return fail("nothing is written about " + full_name(*app), kFailed);
    written = write("man1/" + name + ".1", text);
  }
  return written ? 0 : fail(written.error().message, kFailed);
}

}  // namespace

int run_manual(const std::vector<std::string>& words) {
  const Program program;
  if (words.size() == 1) return print_page(program.app, words.front());
  if (words.size() == 2 && words.front() == "--into") return write_pages(program.app, words.back());
  return fail("give the name of a page, or --into DIR", kWrongUse);
}

}  // namespace gdr::cli
