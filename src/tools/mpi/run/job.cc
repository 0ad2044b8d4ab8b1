#include "mpi/run/job.h"

#include <dirent.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cstdio>
#include <map>
#include <set>

#include "base/printable.h"
#include "process/start.h"

namespace gdr::mpi_run {
namespace {

constexpr int kLookMs = 20;
// How long a launcher may take to end its ranks, here and elsewhere, when it is asked to.
constexpr Nanoseconds kPoliteness = 3 * kSecond;
constexpr Nanoseconds kKillPatience = 5 * kSecond;
// How long output is read that something behind the launcher keeps open.
constexpr Nanoseconds kLastWords = 500 * kMillisecond;
constexpr std::size_t kLongestLine = 16 << 20;

// One output as whole lines; of one too long only the beginning.
class Lines {
 public:
  Lines(UniqueFd file, const std::function<void(std::string_view)>& sink)
      : file_(std::move(file)), sink_(sink) {}

  int fd() const { return file_.get(); }
  bool is_open() const { return static_cast<bool>(file_); }

  void read_some() {
    std::array<char, 65536> buffer;
    const ssize_t got = read(file_.get(), buffer.data(), buffer.size());
    if (got < 0 && (errno == EINTR || errno == EAGAIN)) return;
    if (got <= 0) {
      close();
      return;
    }
    for (ssize_t i = 0; i < got; ++i) {
      if (buffer[static_cast<std::size_t>(i)] == '\n') {
        sink_(line_);
        line_.clear();
      } else if (line_.size() < kLongestLine) {
        line_ += buffer[static_cast<std::size_t>(i)];
      }
    }
  }
  void close() {
    if (!line_.empty()) sink_(line_);
    line_.clear();
    file_.reset();
  }

 private:
  UniqueFd file_;
  const std::function<void(std::string_view)>& sink_;
  std::string line_;
};

// The parent of a process; 0: it is gone, or has ended.
pid_t parent_of(pid_t pid) {
  char name[64], text[512];
  std::snprintf(name, sizeof name, "/proc/%d/stat", pid);
  const UniqueFd file(open(name, O_RDONLY | O_CLOEXEC));
  const ssize_t got = file ? read(file.get(), text, sizeof text - 1) : -1;
  if (got <= 0) return 0;
  text[got] = '\0';
  // The name in parentheses may hold anything, parentheses too.
  const char* behind = std::strrchr(text, ')');
  char state = 0;
  int parent = 0;
  if (behind == nullptr || std::sscanf(behind + 1, " %c %d", &state, &parent) != 2) return 0;
  return state == 'Z' || state == 'X' ? 0 : parent;
}

// All that this process has started, and what these have started.
std::vector<pid_t> descendants() {
  std::map<pid_t, std::vector<pid_t>> children;
  DIR* folder = opendir("/proc");
  if (folder == nullptr) return {};
  while (const dirent* entry = readdir(folder)) {
    const pid_t pid = std::atoi(entry->d_name);
    if (pid <= 0) continue;
    if (const pid_t parent = parent_of(pid); parent > 0) children[parent].push_back(pid);
  }
  closedir(folder);
  std::vector<pid_t> all = children[getpid()];
  for (std::size_t i = 0; i < all.size(); ++i) {
    const std::vector<pid_t> below = children[all[i]];
    all.insert(all.end(), below.begin(), below.end());
  }
  return all;
}

void reap_all() {
  while (waitpid(-1, nullptr, WNOHANG) > 0) {
  }
}

// Orphans of this process's descendants become its children, wherever they have gone.
class Adoption {
 public:
  Adoption() {
    prctl(PR_GET_CHILD_SUBREAPER, &before_);
    prctl(PR_SET_CHILD_SUBREAPER, 1);
    for (const pid_t pid : descendants()) not_ours_.insert(pid);
  }
  Adoption(const Adoption&) = delete;
  Adoption& operator=(const Adoption&) = delete;
  ~Adoption() {
    kill_all();
    prctl(PR_SET_CHILD_SUBREAPER, before_);
  }

  // How many there were.
  std::size_t kill_all() {
    std::set<pid_t> killed;
    for (const Nanoseconds deadline = now() + kKillPatience; now() < deadline; usleep(5000)) {
      bool any = false;
      for (const pid_t pid : descendants()) {
        if (not_ours_.contains(pid)) continue;
        kill(pid, SIGKILL);
        killed.insert(pid);
        any = true;
      }
      reap_all();
      if (!any) break;
    }
    return killed.size();
  }

 private:
  int before_ = 0;
  std::set<pid_t> not_ours_;
};

class Running {
 public:
  Running(pid_t pid, Lines out, Lines errors)
      : pid_(pid), outputs_{std::move(out), std::move(errors)} {}

  bool has_ended() {
    if (!ended_) ended_ = waitpid(pid_, &status_, WNOHANG) == pid_;
    return ended_;
  }
  int status() const { return status_; }
  bool is_silent() const {
    return std::none_of(outputs_.begin(), outputs_.end(),
                        [](const Lines& one) { return one.is_open(); });
  }

  // Returns soon.
  void read_some() {
    std::array<pollfd, 2> waits{{{outputs_[0].fd(), POLLIN, 0}, {outputs_[1].fd(), POLLIN, 0}}};
    poll(waits.data(), waits.size(), kLookMs);
    for (std::size_t i = 0; i < outputs_.size(); ++i) {
      if (waits[i].revents != 0) outputs_[i].read_some();
    }
  }

  // Asks the launcher to end what it has started.
  void ask_to_end() {
    kill(pid_, SIGTERM);
    for (const Nanoseconds deadline = now() + kPoliteness; !has_ended() && now() < deadline;) {
      read_some();
    }
  }
  void read_to_the_end() {
    for (const Nanoseconds deadline = now() + kLastWords; !is_silent() && now() < deadline;) {
      read_some();
    }
    for (Lines& output : outputs_) output.close();
  }

 private:
  pid_t pid_;
  int status_ = 0;
  bool ended_ = false;
  std::array<Lines, 2> outputs_;
};

}  // namespace

Result<JobEnd> run_job(const std::vector<std::string>& command, Nanoseconds limit,
                       const std::function<bool()>& stop,
                       const std::function<void(std::string_view)>& on_line,
                       const std::function<void(std::string_view)>& on_words) {
  Result<process::Pipe> out = process::make_pipe(), errors = process::make_pipe();
  const UniqueFd nothing(open("/dev/null", O_RDONLY | O_CLOEXEC));
  if (!out) return out.error();
  if (!errors) return errors.error();
  if (!nothing) return from_errno("/dev/null");
  Adoption adoption;
  process::Start start;
  start.command = command;
  start.chosen_by = process::ChosenBy::kAccount;  // find_toolchain() has judged the launcher
  start.input = nothing.get();
  start.output = out->write_end.get();
  start.errors = errors->write_end.get();
  start.leads_group = true;
  const Result<pid_t> pid = begin(start);
  out->write_end.reset();
  errors->write_end.reset();
  if (!pid) return pid.error();
  Running job(*pid, Lines(std::move(out->read_end), on_line),
              Lines(std::move(errors->read_end), on_words));
  JobEnd end;
  const Nanoseconds deadline = now() + limit;
  while (!job.has_ended()) {
    job.read_some();
    if (job.is_silent()) usleep(kLookMs * 1000);
    if (stop()) end.how = JobEnd::How::kStopped;
    if (now() >= deadline) end.how = JobEnd::How::kTimedOut;
    if (end.how == JobEnd::How::kItself) continue;
    if (!job.has_ended()) job.ask_to_end();
    break;
  }
  end.status = job.status();
  // What is left would hold the output open.
  end.killed = adoption.kill_all();
  job.read_to_the_end();
  return end;
}

std::string telling_line(const std::vector<std::string>& said) {
  static constexpr const char* kTelling[] = {
      "noticed that process",  // Open MPI: "… process rank 1 with PID 7 on node a exited on signal
                               // 9"
      "EXIT STRING",  // Hydra
      "not enough slots", "could not", "cannot", "unable to", "Unable to", "rror", "No such file",
      "not found", "BAD TERMINATION", "fatal", "Fatal"};
  for (const char* words : kTelling) {
    for (const std::string& line : said) {
      if (line.find(words) != std::string::npos) return printable(line);
    }
  }
  for (auto line = said.rbegin(); line != said.rend(); ++line) {
    if (line->find_first_not_of("-=* \t") != std::string::npos) return printable(*line);
  }
  return "";
}

}  // namespace gdr::mpi_run
