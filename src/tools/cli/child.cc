#include "cli/child.h"

#include <poll.h>
#include <signal.h>
#include <sys/signalfd.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <cstdlib>
#include <optional>

#include "base/output_file.h"
#include "process/start.h"

namespace gdr::cli {
namespace {

constexpr int kPassedOn[] = {SIGINT, SIGQUIT, SIGTERM, SIGHUP, SIGUSR1, SIGUSR2};
// A process that the program left behind may hold its output open for ever.
constexpr int kLastWordsMs = 500;
constexpr int kFirstTickMs = 10, kTickMs = 200;

// Blocks signals for as long as it lives, so that they are read from a descriptor instead.
class SignalsAsFile {
 public:
  SignalsAsFile() {
    sigset_t set;
    sigemptyset(&set);
    for (const int signal : kPassedOn) sigaddset(&set, signal);
    sigaddset(&set, SIGCHLD);
    sigprocmask(SIG_BLOCK, &set, &before_);
    fd_ = UniqueFd(signalfd(-1, &set, SFD_CLOEXEC | SFD_NONBLOCK));
    // Whoever read our output may be gone; then a write fails, and the program is told.
    signal_before_ = signal(SIGPIPE, SIG_IGN);
  }
  SignalsAsFile(const SignalsAsFile&) = delete;
  SignalsAsFile& operator=(const SignalsAsFile&) = delete;
  ~SignalsAsFile() { restore(); }

  void restore() const {
    signal(SIGPIPE, signal_before_);
    sigprocmask(SIG_SETMASK, &before_, nullptr);
  }
  int fd() const { return fd_.get(); }

 private:
  UniqueFd fd_;
  sigset_t before_;
  void (*signal_before_)(int) = SIG_DFL;
};

// One of the program's outputs on its way through.
class Passage {
 public:
  Passage(UniqueFd from, int to, const std::function<void(std::string_view)>& sink)
      : from_(std::move(from)), to_(to), sink_(sink) {}

  int fd() const { return from_.get(); }

  // Reads once and passes on; closes itself at the end.
  void move() {
    std::array<char, 65536> buffer;
    const ssize_t got = read(from_.get(), buffer.data(), buffer.size());
    if (got < 0 && (errno == EINTR || errno == EAGAIN)) return;
    if (got <= 0) return close();
    const std::string_view bytes(buffer.data(), static_cast<std::size_t>(got));
    show(bytes);
    // Closing our end tells the program, as it would be told without us in between.
    if (!write_whole(to_, bytes)) close();
  }

  void close() {
    if (!pending_.empty()) sink_(pending_ + "\n");
    pending_.clear();
    from_.reset();
  }

 private:
  // Whole lines only: those of the other output must not get between the parts of one.
  void show(std::string_view bytes) {
    constexpr std::size_t kMostPending = 1 << 16;
    const std::size_t last = bytes.rfind('\n');
    if (last == std::string_view::npos) {
      if (pending_.size() < kMostPending) pending_.append(bytes);
      return;
    }
    pending_.append(bytes.substr(0, last + 1));
    sink_(pending_);
    pending_ = bytes.substr(last + 1);
  }

  UniqueFd from_;
  int to_;
  const std::function<void(std::string_view)>& sink_;
  std::string pending_;
};

std::optional<int> ended(pid_t child) {
  int status = 0;
  if (waitpid(child, &status, WNOHANG) != child) return std::nullopt;
  return WIFSIGNALED(status) ? 128 + WTERMSIG(status) : WEXITSTATUS(status);
}

void pass_signals_on(int fd, pid_t child) {
  signalfd_siginfo signal;
  while (read(fd, &signal, sizeof signal) == sizeof signal) {
    // A terminal sends its signals to the whole group: the program has had this one.
    const bool from_terminal = signal.ssi_code == SI_KERNEL;
    if (signal.ssi_signo != SIGCHLD && !from_terminal) {
      kill(child, static_cast<int>(signal.ssi_signo));
    }
  }
}

// When a program that runs is to be looked at next: the younger it is, the sooner.
class Ticks {
 public:
  Ticks(pid_t child, const std::function<void(pid_t)>& on_tick)
      : child_(child), on_tick_(on_tick), next_(Clock::now()) {}

  // In milliseconds, for poll(); -1: never.
  int until_next() const {
    if (!on_tick_) return -1;
    const auto left =
        std::chrono::duration_cast<std::chrono::milliseconds>(next_ - Clock::now()).count();
    return static_cast<int>(std::clamp<long>(left + 1, 0, kTickMs));
  }
  void tick_if_due() {
    if (!on_tick_ || Clock::now() < next_) return;
    on_tick_(child_);
    next_ = Clock::now() + std::chrono::milliseconds(pause_ms_);
    pause_ms_ = std::min(2 * pause_ms_, kTickMs);
  }

 private:
  using Clock = std::chrono::steady_clock;
  pid_t child_;
  const std::function<void(pid_t)>& on_tick_;
  Clock::time_point next_;
  int pause_ms_ = kFirstTickMs;
};

int wait_for(pid_t child, const SignalsAsFile& signals, std::vector<Passage>& passages,
             const std::function<void(pid_t)>& on_tick) {
  std::optional<int> status;
  Ticks ticks(child, on_tick);
  for (;;) {
    if (!status) ticks.tick_if_due();
    std::vector<pollfd> waits = {{signals.fd(), POLLIN, 0}};
    bool open = false;
    for (const Passage& passage : passages) {
      waits.push_back({passage.fd(), POLLIN, 0});  // poll ignores one that is closed
      open = open || passage.fd() >= 0;
    }
    if (status && !open) return *status;
    const int ready = poll(waits.data(), waits.size(), status ? kLastWordsMs : ticks.until_next());
    if (status && ready == 0) {
      for (Passage& passage : passages) passage.close();
      return *status;
    }
    if (waits[0].revents != 0) pass_signals_on(signals.fd(), child);
    for (std::size_t i = 0; i < passages.size(); ++i) {
      if (waits[i + 1].revents != 0) passages[i].move();
    }
    if (!status) status = ended(child);
  }
}

}  // namespace

Result<int> run_child(const ChildOptions& options) {
  Result<process::Pipe> out = process::make_pipe(), err = process::make_pipe();
  for (const Result<process::Pipe>* pipe : {&out, &err}) {
    if (!*pipe) return pipe->error();
  }
  for (const auto& [name, value] : options.variables) setenv(name.c_str(), value.c_str(), 1);
  const SignalsAsFile signals;
  process::Start start;
  start.command = options.command;
  start.program = options.path;
  start.chosen_by = process::ChosenBy::kAccount;
  const int output = options.output_to_errors ? STDERR_FILENO : STDOUT_FILENO;
  start.output = options.on_output ? out->write_end.get() : output;
  if (options.on_output) start.errors = err->write_end.get();
  start.ends_with_parent = false;  // it is the user's, as it would be without gdr
  start.in_child = [&signals] { signals.restore(); };
  const Result<pid_t> child = begin(start);
  for (process::Pipe* pipe : {&*out, &*err}) pipe->write_end.reset();
  if (!child) return child.error();
  std::vector<Passage> passages;
  if (options.on_output) {
    passages.emplace_back(std::move(out->read_end), output, options.on_output);
    passages.emplace_back(std::move(err->read_end), STDERR_FILENO, options.on_output);
  }
  return wait_for(*child, signals, passages, options.on_tick);
}

}  // namespace gdr::cli
