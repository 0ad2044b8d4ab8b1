#include "process/child.h"

#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>

namespace gdr::process {
namespace {

// How often is looked whether the child has ended while something keeps its output open.
constexpr Nanoseconds kLook = 50 * kMillisecond;
// How long a killed child may take to end.
constexpr Nanoseconds kLastWords = 2 * kSecond;
// What a pipe can hold (/proc/sys/fs/pipe-max-size): more than that somebody else has written.
constexpr std::size_t kPipe = std::size_t{1} << 20;

class Reader {
 public:
  Reader(UniqueFd file, std::size_t most) : file_(std::move(file)), most_(most) {}

  bool is_open() const { return static_cast<bool>(file_); }

  // Waits for output, or its end, or until `patience` is over; how many bytes came.
  std::size_t read_some(Nanoseconds patience) {
    pollfd wait{file_.get(), POLLIN, 0};
    if (poll(&wait, 1, static_cast<int>((patience + kMillisecond - 1) / kMillisecond)) <= 0) {
      return 0;
    }
    std::array<char, 65536> buffer;
    const ssize_t got = read(file_.get(), buffer.data(), buffer.size());
    if (got < 0 && (errno == EINTR || errno == EAGAIN)) return 0;
    if (got <= 0) {
      file_.reset();
      return 0;
    }
    const auto count = static_cast<std::size_t>(got);
    output_.append(buffer.data(), std::min(count, most_ - output_.size()));
    return count;
  }

  // What is there already.
  void drain() {
    for (std::size_t total = 0; is_open() && total < kPipe;) {
      const std::size_t got = read_some(0);
      if (got == 0) return;
      total += got;
    }
  }

  std::string take() { return std::move(output_); }

 private:
  UniqueFd file_;
  std::size_t most_;
  std::string output_;
};

// True: reaped.
bool reap(pid_t pid, int& status, Nanoseconds deadline) {
  for (;;) {
    const pid_t reaped = waitpid(pid, &status, WNOHANG);
    if (reaped == pid || (reaped < 0 && errno != EINTR)) return true;
    if (now() >= deadline) return false;
    usleep(1000);
  }
}

}  // namespace

ChildEnd read_child(pid_t pid, UniqueFd output, Nanoseconds limit, std::size_t most) {
  ChildEnd end;
  Reader reader(std::move(output), most);
  const Nanoseconds deadline = now() + limit;
  bool ended = false;
  for (Nanoseconds time = now(); !ended && time < deadline; time = now()) {
    const Nanoseconds patience = std::min(deadline - time, kLook);
    if (reader.is_open() && reader.read_some(patience) > 0) continue;
    // A child that has closed its output is about to end.
    ended = reap(pid, end.status, reader.is_open() ? 0 : time + patience);
  }
  if (!ended) {
    end.timed_out = true;
    // The child leads a group of its own, with whatever it started.
    kill(-pid, SIGKILL);
    kill(pid, SIGKILL);
    // A driver may hold a process in the kernel, where no signal ends it: it is then left behind.
    reap(pid, end.status, now() + kLastWords);
  }
  reader.drain();
  end.output = reader.take();
  return end;
}

std::string status_text(int status) {
  if (WIFSIGNALED(status)) {
    const int number = WTERMSIG(status);
    return "signal " + std::to_string(number) + " (" + strsignal(number) + ")";
  }
  return "exit status " + std::to_string(WEXITSTATUS(status));
}

}  // namespace gdr::process
