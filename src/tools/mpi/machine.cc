#include "mpi/machine.h"

#include <dlfcn.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <unistd.h>

#include <algorithm>
#include <filesystem>

#include "base/environment.h"
#include "mpi/libraries.h"

namespace gdr::mpi {
namespace {

// ompi_info --parsable --all prints 0.6 MB.
constexpr std::size_t kMostBytes = std::size_t{4} << 20;

std::vector<std::string> environment_with(const Variables& changes) {
  std::vector<std::string> entries;
  for (char** entry = environ; *entry != nullptr; ++entry) {
    const std::string text = *entry;
    if (!changes.contains(text.substr(0, text.find('=')))) entries.push_back(text);
  }
  for (const auto& [name, value] : changes) {
    if (!value.empty()) entries.push_back(name + "=" + value);
  }
  return entries;
}

std::string without_links(const std::string& path) {
  std::error_code ignored;
  return std::filesystem::weakly_canonical(path, ignored).string();
}

}  // namespace

LivePrograms::LivePrograms(Nanoseconds limit, Nanoseconds total, const std::string& chosen)
    : limit_(limit), deadline_(now() + total) {
  if (geteuid() == 0) return;
  const std::string path = environment("PATH").value_or("") + ":" + chosen;
  for (const std::string_view folder : split(path, ':')) {
    if (!folder.starts_with('/')) continue;
    for (const char* beside : {"", "/../lib", "/../lib64"}) {
      chosen_.insert(without_links(std::string(folder) + beside));
    }
  }
}

std::optional<Stranger> LivePrograms::stranger(const std::string& file) {
  if (!chosen_.empty() && chosen_.contains(without_links(folder_of(file)))) return {};
  if (auto stranger = process::who_else_can_change(file)) return stranger;
  const std::string path = without_links(file);
  const auto object = read_shared_object(host::Files("/"), Machine::below_root(path));
  return object ? stranger_in(run_path_of(*object, path)) : std::nullopt;
}

std::optional<Stranger> LivePrograms::stranger_in(const std::vector<std::string>& folders) const {
  for (const std::string& folder : folders) {
    if (chosen_.contains(without_links(folder))) continue;
    if (auto stranger = process::who_else_can_add_to(folder)) return stranger;
  }
  return {};
}

Answer LivePrograms::follow(process::Start start,
                            const std::function<Result<pid_t>(const process::Start&)>& begin) {
  Answer answer;
  answer.found = true;
  const Nanoseconds left = std::min(limit_, deadline_ - now());
  answer.timed_out = left <= 0;
  if (answer.timed_out) return answer;
  Result<process::Pipe> pipe = process::make_pipe();
  const UniqueFd nothing(open("/dev/null", O_RDONLY | O_CLOEXEC));
  if (!pipe || !nothing) return {};
  start.input = nothing.get();
  start.output = start.errors = pipe->write_end.get();
  start.leads_group = true;
  const Result<pid_t> pid = begin(start);
  if (!pid) return {};
  pipe->write_end.reset();
  process::ChildEnd end = process::read_child(*pid, std::move(pipe->read_end), left, kMostBytes);
  // A program that has ended may have left others behind: a wrapper script's, a launcher's daemon.
  kill(-*pid, SIGKILL);
  answer.timed_out = end.timed_out;
  answer.output = std::move(end.output);
  return answer;
}

Answer LivePrograms::ask(const Question& question) {
  if (question.words.empty() || access(question.words.front().c_str(), X_OK) != 0) return {};
  const auto libraries = question.variables.find("LD_LIBRARY_PATH");
  const std::string path = libraries == question.variables.end() ? "" : libraries->second;
  std::vector<std::string> folders;
  for (const std::string_view folder : split(path, ':')) {
    if (!folder.empty()) folders.emplace_back(folder);
  }
  if (stranger(question.words.front()) || stranger_in(folders)) return {};
  const std::vector<std::string> entries = environment_with(question.variables);
  std::vector<const char*> environment;
  for (const std::string& entry : entries) environment.push_back(entry.c_str());
  environment.push_back(nullptr);
  process::Start start;
  start.command = question.words;
  start.chosen_by = process::ChosenBy::kAccount;  // it is judged above
  start.environment = environment.data();
  start.only_safe_variables = true;
  return follow(start, [](const process::Start& one) { return process::begin(one); });
}

Answer LivePrograms::call(const std::string& library, const std::string& function) {
  if (stranger(library)) return {};
  const auto work = [&] {
    void* const loaded = dlopen(library.c_str(), RTLD_NOW | RTLD_LOCAL);
    if (loaded == nullptr) return 1;
    using Function = int (*)();
    const auto called = reinterpret_cast<Function>(dlsym(loaded, function.c_str()));
    if (called == nullptr) return 1;
    return dprintf(STDOUT_FILENO, "%d\n", called()) > 0 ? 0 : 1;
  };
  return follow({}, [&](const process::Start& one) { return process::begin(one, work); });
}

Answer RecordedPrograms::ask(const Question& question) {
  std::string arguments;
  for (std::size_t i = 1; i < question.words.size(); ++i) {
    arguments += (arguments.empty() ? "" : " ") + question.words[i];
  }
  const std::string& program = question.words.front();
  // It may be recorded by its own path, and asked by one that links lead through.
  std::string real;
  for (const std::string& part : files_.real_path(Machine::below_root(program))) real += "/" + part;
  Answer answer;
  for (const std::string& one : {program, real}) {
    const std::string path =
        "captured/programs" + one + "/" + (arguments.empty() ? "-" : arguments);
    if (one.empty() || !files_.exists(path)) continue;
    answer.found = true;
    answer.output = files_.part(path, 0, kMostBytes);
    return answer;
  }
  return answer;
}

std::string Machine::variable(const std::string& name) const {
  const auto found = variables.find(name);
  return found == variables.end() ? std::string() : found->second;
}

std::vector<std::string> Machine::folders(const std::string& name) const {
  std::vector<std::string> list;
  const std::string value = variable(name);
  for (std::string_view folder : split(value, ':')) {
    while (folder.size() > 1 && folder.ends_with('/')) folder.remove_suffix(1);
    if (folder.starts_with('/')) list.emplace_back(folder);
  }
  return list;
}

std::string Machine::below_root(const std::string& path) {
  return path.substr(std::min(path.find_first_not_of('/'), path.size()));
}

std::string Machine::real_path(const std::string& path) const {
  std::string real;
  for (const std::string& part : files.real_path(below_root(path))) real += "/" + part;
  return real.empty() ? path : real;
}

Variables read_variables(const host::Files& files) {
  Variables found;
  const auto add = [&found](std::string_view entry) {
    const std::size_t equals = entry.find('=');
    if (equals != entry.npos && equals > 0) {
      found.emplace(entry.substr(0, equals), entry.substr(equals + 1));
    }
  };
  if (files.is_live()) {
    for (char** entry = environ; *entry != nullptr; ++entry) add(*entry);
    return found;
  }
  const std::string text = files.text("proc/self/environ");
  for (const std::string_view entry : split(text, '\0')) add(entry);
  found.emplace("PATH", "/usr/local/bin:/usr/bin:/bin");
  return found;
}

std::string folder_of(const std::string& path) {
  const std::size_t slash = path.rfind('/');
  if (slash == path.npos) return ".";
  return slash == 0 ? "/" : path.substr(0, slash);
}

std::string name_of_file(const std::string& path) { return path.substr(path.rfind('/') + 1); }

}  // namespace gdr::mpi
