// gdr explain: the cause of an error text, what confirms it on this host, and the fix.
#include <fcntl.h>
#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <cstring>
#include <memory>
#include <optional>

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
#include "explain/symptom_check.h"
#include "explain/text_report.h"
#include "explain/topic_search.h"
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
  std::string symptoms;        // a site's folder
  std::string check_symptoms;  // the same, to be checked only
  std::string search;
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
  std::string beginning;     // what may be guessed from
};

// More than a few lines have words of every kind.
constexpr std::size_t kMostToGuessFrom = 2000;
constexpr std::uint64_t kMostLinesToGuessFrom = 20;
constexpr std::size_t kMostGuesses = 3;
constexpr std::size_t kMostFound = 10;

// It holds what explains: this program's symptoms, and those of --symptoms.
class Known {
 public:
  explicit Known(const std::string& folder) {
    if (folder.empty()) return;
    more_.emplace(explain::SymptomTable::with(folder, faults_));
    texts_.emplace(explain::texts_of(*more_));
  }
  Known(const Known&) = delete;  // texts_ reads more_
  Known& operator=(const Known&) = delete;

  const explain::SymptomTable& table() const {
    return more_ ? *more_ : explain::SymptomTable::built_in();
  }
  const explain::TextIndex& texts() const { return texts_ ? *texts_ : explain::built_in_texts(); }
  const std::vector<explain::Fault>& faults() const { return faults_; }

 private:
  std::vector<explain::Fault> faults_;
  std::optional<explain::SymptomTable> more_;
  std::optional<explain::TextIndex> texts_;
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
    if (line_of(one.symptom->fix_now).find(kCommand) != std::string::npos) return {};
    mpi |= one.symptom->program == explain::Program::kMpi;
  }
  if (!mpi) return {};
  return fmt::format("\n'{}' tells what each MPI of this host does with GPU memory.\n", kCommand);
}

std::vector<const explain::Symptom*> guesses_of(const Subject& subject, const Known& known) {
  if (!subject.explanation.found.empty() || subject.beginning.size() > kMostToGuessFrom ||
      subject.explanation.lines > kMostLinesToGuessFrom) {
    return {};
  }
  return explain::TopicSearch(known.table()).nearest(subject.beginning, kMostGuesses);
}

int print_unknown(const Subject& subject, const Known& known) {
  const std::string line =
      fmt::format("{}: no known error in {}. To check this host: gdr doctor\n",
                  printable(subject.name), text::plural(subject.explanation.lines, "line"));
  const std::string guesses =
      to_nearest("\nGuesses, by its words alone", guesses_of(subject, known));
  return print(line + nccl_text(subject) + guesses, true, kFailed);
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
Result<Subject> read_subject(const Known& known, std::string name, int fd,
                             const std::string* text) {
  explain::Recogniser recogniser(known.texts());
  nccl::LogReader log;
  std::string beginning;
  const auto feed = [&](std::string_view bytes) {
    if (beginning.size() <= kMostToGuessFrom) {
      beginning.append(bytes.substr(0, kMostToGuessFrom + 1));
    }
    recogniser.feed(bytes);
    log.feed(bytes);
  };
  if (text != nullptr) {
    feed(*text);
  } else if (const Result<void> read = read_log(fd, "gdr explain", feed); !read) {
    return Error{read.error().code, fmt::format("{}: {}", name, read.error().message)};
  }
  Subject subject{std::move(name), false, recogniser.finish(), {}, std::move(beginning)};
  subject.connections = nccl::judge(log.finish(), nccl::Expectation::kGdrdma);
  return subject;
}

// Whether an argument that names no file is an error text: it has spaces, or is recognised.
bool is_text(const std::string& argument, const Subject& read, int error) {
  if (error != ENOENT && error != ENOTDIR && error != ENAMETOOLONG) return false;
  return argument.find_first_of(" \t\n") != std::string::npos || !read.explanation.found.empty();
}

Result<Subject> subject_of(const ExplainOptions& options, const Known& known) {
  if (options.from_standard_input()) {
    if (options.file.empty() && isatty(STDIN_FILENO) == 1) {
      return Error{EINVAL,
                   "nothing to read; give a FILE or a TEXT, as in 'gdr explain train.log', or pipe "
                   "one in, as "
                   "in 'sudo dmesg | gdr explain'; '-' reads what you type"};
    }
    return read_subject(known, "standard input", STDIN_FILENO, nullptr);
  }
  const UniqueFd file(open(options.file.c_str(), O_RDONLY | O_CLOEXEC));
  if (!file) {
    const int error = errno;
    Result<Subject> given = read_subject(known, "the text given", -1, &options.file);
    if (given && is_text(options.file, *given, error)) return given;
    return Error{error, fmt::format("{}: {}", options.file, std::strerror(error))};
  }
  Result<Subject> subject = read_subject(known, options.file, file.get(), nullptr);
  if (subject) subject->is_file = true;
  return subject;
}

int explain_text(const ExplainOptions& options, const Known& known) {
  const Result<Subject> subject = subject_of(options, known);
  if (!subject) return refuse(subject.error().message);
  const explain::Explanation& explanation = subject->explanation;
  if (explanation.found.empty() && !options.json) return print_unknown(*subject, known);
  const Result<Examination> here = examine(options, explanation);
  if (!here) return refuse(here.error().message);
  const int status = explanation.found.empty() ? kFailed : 0;
  if (options.json) {
    return print(to_json(explanation, subject->name, here->found, here->host, &subject->connections,
                         guesses_of(*subject, known), provenance()),
                 false, status);
  }
  const std::string text =
      to_text(explanation, subject->name, here->found, here->host, text::Style::of(stdout));
  return print(text + mpi_text(*subject) + nccl_text(*subject), true, status);
}

int show_symptom(const ExplainOptions& options, const Known& known) {
  const explain::Symptom* symptom = known.table().find(options.symptom);
  if (symptom == nullptr) {
    return refuse(fmt::format("unknown symptom '{}'; 'gdr explain --list' shows all",
                              printable(options.symptom)));
  }
  return options.json ? print(page_json(*symptom, provenance()), false, 0)
                      : print(to_page(*symptom), true, 0);
}

int search_symptoms(const ExplainOptions& options, const Known& known) {
  const auto found = explain::TopicSearch(known.table()).nearest(options.search, kMostFound);
  const int status = found.empty() ? kFailed : 0;
  if (options.json) return print(found_json(found, provenance()), false, status);
  if (found.empty()) return print("No symptom has these words.\n", true, status);
  return print(to_nearest("Nearest by their words", found), true, status);
}

int check_symptoms(const std::string& folder) {
  const Known known(folder);
  std::vector<explain::Fault> faults = known.faults();
  check_seen(known.texts(), false, faults);
  std::string text;
  for (const explain::Fault& fault : faults) text += fault.shown() + "\n";
  if (!text.empty()) return print(text, false, kFailed);
  const auto count = std::ranges::count_if(
      known.table().all(), [](const explain::Symptom& one) { return !one.site.empty(); });
  return print(fmt::format("{}: {}, and nothing is wrong with them.\n", printable(folder),
                           text::plural(static_cast<std::uint64_t>(count), "symptom")),
               true, 0);
}

int run_explain(const ExplainOptions& options) {
  if (!options.check_symptoms.empty()) return check_symptoms(options.check_symptoms);
  const Known known(options.symptoms);
  if (!known.faults().empty()) {
    return refuse(
        fmt::format("{}; all that is wrong there: {}", known.faults().front().shown(),
                    text::Command("gdr explain --check-symptoms {}", options.symptoms).text()));
  }
  if (options.list) {
    return options.json ? print(list_json(known.table(), provenance()), false, 0)
                        : print(to_list(known.table()), true, 0);
  }
  if (!options.search.empty()) return search_symptoms(options, known);
  return options.symptom.empty() ? explain_text(options, known) : show_symptom(options, known);
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
  CLI::Option* search =
      command
          ->add_option("--search", options->search,
                       "Show the symptoms that are nearest to these words, in quotes")
          ->type_name("WORDS")
          ->excludes(symptom)
          ->excludes(list);
  CLI::Option* symptoms =
      command
          ->add_option("--symptoms", options->symptoms,
                       "Also know the symptoms in this folder's files CHAPTER/ID.txt")
          ->type_name("DIR");
  command
      ->add_option("--check-symptoms", options->check_symptoms,
                   "Only check that folder's files: print what is wrong with each, and the line")
      ->type_name("DIR")
      ->excludes(symptom)
      ->excludes(symptoms)
      ->excludes(search)
      ->excludes(list);
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
    if (!options->file.empty() && (options->list || !options->symptom.empty() ||
                                   !options->search.empty() || !options->check_symptoms.empty())) {
      throw CLI::ValidationError(
          "FILE does not work with --list, --symptom, --search or --check-symptoms");
    }
    chosen = [options] { return run_explain(*options); };
  });
}

}  // namespace gdr::cli
