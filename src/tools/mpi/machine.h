// The machine whose MPIs are looked at: its files, its variables, and what its programs say. All of
// it can come from a folder or an archive of a recorded machine, and then nothing is started.
//
//   const host::Files files("/");
//   LivePrograms programs(10 * kSecond, 60 * kSecond);
//   const Machine machine{files, read_variables(files), programs};
//   const Answer answer = machine.programs.ask({{"/usr/bin/ompi_info", "--version"}});
//
// A recorded machine has what a program printed in captured/programs/PATH/ARGUMENTS, where the
// arguments are joined by spaces, or "-" if there are none:
//   captured/programs/opt/hpcx/ompi/bin/ompi_info/--parsable --all
#pragma once

#include <functional>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "base/clock.h"
#include "host/files.h"
#include "process/start.h"
#include "process/trust.h"

namespace gdr::mpi {

using Variables = std::map<std::string, std::string>;

struct Question {
  std::vector<std::string> words;  // the program by its absolute path, then its arguments
  Variables variables = {};        // set for it; an empty value: unset
};

using process::Stranger;

struct Answer {
  bool found = false;      // the program is there and could be started, or its output is recorded
  bool timed_out = false;  // it was killed, with all that it had started in its process group
  std::string output;      // standard output, then errors, in the order in which they came
};

class Programs {
 public:
  virtual ~Programs() = default;
  // Who could change a program or a library and so keeps it from being asked; nothing: ask it.
  virtual std::optional<Stranger> stranger(const std::string& file) = 0;
  virtual Answer ask(const Question& question) = 0;
  // Calls `int function(void)` of a library; the output is the result in decimal. It is called in a
  // process of its own, with the same limits. A record has it as the output of the library with the
  // function's name as its argument.
  virtual Answer call(const std::string& library, const std::string& function) = 0;
};

// Starts programs of this machine. None may take longer than `limit`, and all of them together no
// longer than `total`: what is asked later is not started and counts as timed out.
//
// None is started or loaded that another account than root and this one could change, or that has
// its libraries looked for where another account could put one. What the folders of PATH have, with
// the libraries beside them, is the choice of an account that is not root; so is the folder
// `chosen`, in which the launcher is that was named.
class LivePrograms : public Programs {
 public:
  explicit LivePrograms(Nanoseconds limit, Nanoseconds total, const std::string& chosen = {});
  std::optional<Stranger> stranger(const std::string& file) override;
  Answer ask(const Question& question) override;
  Answer call(const std::string& library, const std::string& function) override;

 private:
  // Who could put a library into one of them.
  std::optional<Stranger> stranger_in(const std::vector<std::string>& folders) const;
  // `begin` starts it with what it is given.
  Answer follow(process::Start start,
                const std::function<Result<pid_t>(const process::Start&)>& begin);

  Nanoseconds limit_;
  Nanoseconds deadline_;
  std::set<std::string> chosen_;
};

class RecordedPrograms : public Programs {
 public:
  explicit RecordedPrograms(const host::Files& files) : files_(files) {}
  std::optional<Stranger> stranger(const std::string& /*file*/) override { return {}; }
  Answer ask(const Question& question) override;
  Answer call(const std::string& library, const std::string& function) override {
    return ask({{library, function}});
  }

 private:
  const host::Files& files_;
};

struct Machine {
  const host::Files& files;
  Variables variables;
  Programs& programs;

  // Empty: not set.
  std::string variable(const std::string& name) const;
  // The folders of a variable such as PATH that are absolute.
  std::vector<std::string> folders(const std::string& name) const;
  bool has(const std::string& path) const { return files.exists(below_root(path)); }
  std::vector<std::string> entries(const std::string& path) const {
    return files.entries(below_root(path));
  }
  // Follows all links of a path; the path itself where it leads nowhere.
  std::string real_path(const std::string& path) const;
  // "usr/bin", as host::Files wants it.
  static std::string below_root(const std::string& path);
};

// This process's variables, or those recorded in proc/self/environ. A recorded machine without PATH
// gets the system's folders.
Variables read_variables(const host::Files& files);

// "/opt/x/bin/mpirun" -> "/opt/x/bin" and "mpirun"
std::string folder_of(const std::string& path);
std::string name_of_file(const std::string& path);

}  // namespace gdr::mpi
