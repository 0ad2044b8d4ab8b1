// Starting a child process: a program, or work in a copy of this process.
//
//   Start start;
//   start.command = {"ompi_info", "--parsable"};
//   Result<pid_t> pid = begin(start);                       // or, read to its end:
//   Result<ChildEnd> end = run(start, Output::kAll, 10 * kSecond, 1 << 20);
#pragma once

#include <sys/types.h>

#include <functional>
#include <string>
#include <vector>

#include "base/result.h"
#include "base/unique_fd.h"
#include "process/child.h"

namespace gdr::process {

// Who has chosen the program decides whose file it may be (process/trust.h).
enum class ChosenBy {
  kGdr,      // a path that gdr has found: nobody but root and this account can change it
  kPath,     // the folders of PATH: for root as above; for others PATH is their own choice
  kAccount,  // whoever started gdr has named the program, or it is a part of gdr: as it is
};

struct Start {
  std::vector<std::string> command;  // its words; the first is looked for in PATH, but with a slash
  std::string program;               // the file, where it is not command[0]
  // Of a name without a slash, kGdr is as kPath.
  ChosenBy chosen_by = ChosenBy::kGdr;
  const char* const* environment = nullptr;  // nullptr: as this process's
  // Root's program gets no variable that leads to what another account could change: HOME,
  // OPAL_PREFIX and their like are where programs look for plug-ins.
  bool only_safe_variables = false;
  // Descriptors of this process that become the child's standard ones. -1: input and errors are
  // this process's own, and output goes to its standard error: a library that prints must not spoil
  // what this program has on standard output.
  int input = -1, output = -1, errors = -1;
  std::vector<int> descriptors;  // become the child's 3, 4, ...
  bool ends_with_parent = true;  // the kernel kills it should the thread that started it end
  bool leads_group = false;      // what it starts can be killed with it
  // A terminal's Ctrl-C and the SIGTERM of timeout(1) go to the whole group. They are for this
  // process, which ends the child.
  bool ignores_interrupt = false;
  std::function<void()> in_child;  // called there, first; does only what is safe after fork()
};

struct Pipe {
  UniqueFd read_end, write_end;
};
// A program that is started does not inherit it.
Result<Pipe> make_pipe();

// The program runs when this returns; the error is that of starting it. EPERM: another account
// could change the program. A name that PATH leads to such a program by is looked for in what
// follows.
Result<pid_t> begin(const Start& start);

// Does the work in a copy of this process, which has no other thread; its exit status is what the
// work returns. No destructors of libraries run: it owns nothing that outlives it.
Result<pid_t> begin(const Start& start, const std::function<int()>& work);

// What is read of a child.
enum class Output { kAll, kStandardOutput };

// Starts it as leader of a group, without input, and follows it to its end (process/child.h).
Result<ChildEnd> run(Start start, Output which, Nanoseconds limit, std::size_t most);

}  // namespace gdr::process
