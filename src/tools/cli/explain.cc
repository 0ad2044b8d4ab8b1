// gdr explain: the cause of an error text, what confirms it on this host, and the fix.
#include <fcntl.h>
#include <fmt/format.h>
#include <unistd.h>

#include <cstdio>
#include <cstring>
#include <memory>

#include "base/environment.h"
#include "base/unique_fd.h"
#include "cli/command_line.h"
#include "cli/help.h"
#include "cli/subcommands.h"
#include "cli/this_host.h"
#include "cli/whole_io.h"
#include "doctor/environment.h"
#include "doctor/kernel_log.h"
#include "explain/confirm.h"
#include "explain/json_report.h"
#include "explain/nccl_log.h"
#include "explain/recogniser.h"
#include "explain/text_report.h"
#include "host/source/source.h"
#include "text/command.h"
#include "text/format.h"
#include "text/wrap.h"

namespace gdr::cli {
namespace {

constexpr const char* kStandardInput = "-";

struct ExplainOptions {
  std::string file;
  std::string symptom;
  std::string root = "/";
  bool list = false;
  bool no_check = false;
  bool json = false;

  bool from_standard_input() const { return file.empty() || file == kStandardInput; }
};

// The text that was read, from a file, standard input or the command line.
struct Subject {
  std::string name;      // for a person
  bool is_file = false;  // other commands can read it too
  explain::Explanation explanation;
  nccl::Report connections;  // if it is a log of NCCL
};

int refuse(const std::string& reason) {
  say("gdr explain: " + reason);
  return kWrongUse;
}

int print(const std::string& text, bool wrapped, int status) {
  const std::size_t columns = wrapped ? text::terminal_columns(stdout) : 0;
  std::string out;
  for (std::string_view line : split(std::string_view(text).substr(0, text.size() - 1), '\n')) {
    const std::string shown = wrapped ? printable(line) : std::string(line);
    const bool whole = shown.find_first_not_of(' ') == explain::kCommandIndent;
    out += text::wrap(shown, whole ? 0 : columns, explain::kTextIndent) + "\n";
  }
  std::fputs(out.c_str(), stdout);
  return status;
}

// What NCCL's connections add; empty if nothing.
std::string nccl_text(const Subject& subject) {
  if (!subject.explanation.is_nccl_log) return {};
  std::string text = "\n";
  if (explain::says_more(subject.connections)) {
    text += explain::connections_text(subject.connections, subject.explanation);
  }
  return text +
         fmt::format(
             "This is a log of NCCL: '{}' judges each connection.\n",
             text::Command("gdr nccl check {}", subject.is_file ? subject.name : "FILE").text());
}

// A symptom of MPI or UCX leads to the command that examines these, unless its fix already does.
std::string mpi_text(const Subject& subject) {
  constexpr const char* kCommand = "gdr mpi check";
  bool mpi = false;
  for (const explain::Recognition& one : subject.explanation.found) {
    if (std::string_view(one.symptom->fix_now).find(kCommand) != std::string_view::npos) return {};
    mpi |= one.symptom->program == explain::Program::kMpi;
  }
  if (!mpi) return {};
  return fmt::format("\n'{}' tells what each MPI of this host does with GPU memory.\n", kCommand);
}

int print_unknown(const Subject& subject) {
  const std::string line =
      fmt::format("{}: no known error in {}. To check this host: gdr doctor\n",
                  printable(subject.name), text::plural(subject.explanation.lines, "line"));
  return print(line + nccl_text(subject), true, kFailed);
}

struct Examination {
  explain::Confirmations found;
  std::string host;  // its name
};

std::string name_of_host(const host::Files& files) {
  if (!files.is_live()) return "the captured machine " + files.root();
  const std::string name = name_of_this_host();
  return name.empty() ? "this host" : name;
}

Result<Examination> examine(const ExplainOptions& options,
                            const explain::Explanation& explanation) {
  if (options.no_check || explanation.found.empty()) return Examination{};
  host::Source source;
  source.root = options.root;
  const Result<host::Inventory> inventory = host::read_inventory(source);
  if (!inventory) return inventory.error();
  const host::Files files(options.root);
  doctor::Host host{files, *inventory, doctor::read_environment(files), nullptr, {}, {}};
  host.kernel_log = doctor::read_kernel_log(files);
  return Examination{confirm(explanation, host), name_of_host(files)};
}

// Reads `text` if there is one, else all of `fd`.
Result<Subject> read_subject(std::string name, int fd, const std::string* text) {
  explain::Recogniser recogniser;
  nccl::LogReader log;
  const auto feed = [&](std::string_view bytes) {
    recogniser.feed(bytes);
    log.feed(bytes);
  };
  if (text != nullptr) {
    feed(*text);
  } else if (const Result<void> read = read_log(fd, "gdr explain", feed); !read) {
    return Error{read.error().code, fmt::format("{}: {}", name, read.error().message)};
  }
  Subject subject{std::move(name), false, recogniser.finish(), {}};
  subject.connections = nccl::judge(log.finish(), nccl::Expectation::kGdrdma);
  return subject;
}

// Whether an argument that names no file is an error text: it has spaces, or is recognised.
bool is_text(const std::string& argument, const Subject& read, int error) {
  if (error != ENOENT && error != ENOTDIR && error != ENAMETOOLONG) return false;
  return argument.find_first_of(" \t\n") != std::string::npos || !read.explanation.found.empty();
}

Result<Subject> subject_of(const ExplainOptions& options) {
  if (options.from_standard_input()) {
    if (options.file.empty() && isatty(STDIN_FILENO) == 1) {
      return Error{EINVAL,
                   "nothing to read; give a FILE or a TEXT, as in 'gdr explain train.log', or pipe "
                   "one in, as "
                   "in 'sudo dmesg | gdr explain'; '-' reads what you type"};
    }
    return read_subject("standard input", STDIN_FILENO, nullptr);
  }
  const UniqueFd file(open(options.file.c_str(), O_RDONLY | O_CLOEXEC));
  if (!file) {
    const int error = errno;
    Result<Subject> given = read_subject("the text given", -1, &options.file);
    if (given && is_text(options.file, *given, error)) return given;
    return Error{error, fmt::format("{}: {}", options.file, std::strerror(error))};
  }
  Result<Subject> subject = read_subject(options.file, file.get(), nullptr);
  if (subject) subject->is_file = true;
  return subject;
}

int explain_text(const ExplainOptions& options) {
  const Result<Subject> subject = subject_of(options);
  if (!subject) return refuse(subject.error().message);
  const explain::Explanation& explanation = subject->explanation;
  if (explanation.found.empty() && !options.json) return print_unknown(*subject);
  const Result<Examination> here = examine(options, explanation);
  if (!here) return refuse(here.error().message);
  const int status = explanation.found.empty() ? kFailed : 0;
  if (options.json) {
    return print(to_json(explanation, subject->name, here->found, here->host, &subject->connections,
                         provenance()),
                 false, status);
  }
  const std::string text =
      to_text(explanation, subject->name, here->found, here->host, text::Style::of(stdout));
  return print(text + mpi_text(*subject) + nccl_text(*subject), true, status);
}

int show_symptom(const ExplainOptions& options) {
  const explain::Symptom* symptom = explain::find_symptom(options.symptom);
  if (symptom == nullptr) {
    return refuse(fmt::format("unknown symptom '{}'; 'gdr explain --list' shows all",
                              printable(options.symptom)));
  }
  return options.json ? print(page_json(*symptom, provenance()), false, 0)
                      : print(to_page(*symptom), true, 0);
}

int run_explain(const ExplainOptions& options) {
  if (options.list) {
    return options.json ? print(explain::list_json(provenance()), false, 0)
                        : print(explain::to_list(), true, 0);
  }
  return options.symptom.empty() ? explain_text(options) : show_symptom(options);
}

}  // namespace

void add_explain(CLI::App& program, Action& chosen) {
  auto options = std::make_shared<ExplainOptions>();
  CLI::App* command = program.add_subcommand(
      "explain", "Explain an error text or a log: its cause, and how to fix it");
  command
      ->add_option("FILE", options->file,
                   "Log of any program, or an error text in quotes; - or nothing: standard input")
      ->type_name("");
  CLI::Option* symptom =
      command->add_option("--symptom", options->symptom, "Show one symptom")->type_name("ID");
  CLI::Option* list = command->add_flag("--list", options->list, "List all known symptoms");
  list->excludes(symptom);
  command->add_flag("--no-check", options->no_check,
                    "Do not examine this host (default: run the checks that confirm a cause)");
  command->add_flag("--json", options->json, "Print one JSON document instead of text");
  command
      ->add_option("--root", options->root,
                   "Examine a captured root: a folder that holds sys and proc, or a tar archive of "
                   "it (default: /, this machine)")
      ->type_name("PATH");
  refuse_empty_values(*command);
  command->callback([options, &chosen] {
    if (!options->file.empty() && (options->list || !options->symptom.empty())) {
      throw CLI::ValidationError("FILE does not work with --list or --symptom");
    }
    chosen = [options] { return run_explain(*options); };
  });
}

}  // namespace gdr::cli
