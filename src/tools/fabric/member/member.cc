#include "fabric/member/member.h"

#include <fmt/format.h>
#include <poll.h>
#include <sys/stat.h>
#include <sys/utsname.h>

#include <optional>

#include "fabric/collector/said.h"
#include "fabric/hub/token.h"
#include "fabric/member/examination.h"
#include "fabric/messages.h"
#include "host/files.h"
#include "process/worker.h"

namespace gdr::fabric {
namespace {

constexpr Nanoseconds kGreetingLimit = 30 * kSecond;
// So many looks in a row at which the collector had said nothing, not even that it is still there.
// Looks are counted and no time is, since a job that was suspended goes on.
constexpr int kMostSilentLooks = 12;

std::string own_name() {
  utsname names{};
  return uname(&names) == 0 ? names.nodename : "";
}

// Containers of one host share the kernel, but each has a network of its own, and rails in it.
std::string own_machine(const std::string& root) {
  struct stat network {};
  const bool known = stat("/proc/self/ns/net", &network) == 0;
  return fmt::format("{} {}", host::Files(root).line("proc/sys/kernel/random/boot_id"),
                     known ? network.st_ino : 0);
}

class Member {
 public:
  Member(UniqueFd socket, const MemberOptions& options)
      : options_(options), collector_(std::move(socket)) {}

  Result<void> join() {
    const Result<Welcome> welcome = collector_.receive<Welcome>(kGreetingLimit);
    if (!welcome) return welcome.error();
    if (welcome->magic != kMagic) return Error{EPROTO, "this is not the collector of gdr fabric"};
    Knock knock;
    knock.version = options_.version;
    knock.rank = options_.rank;
    const process::Share own = share_of(options_.token);
    knock.point = own.point();
    const std::optional<process::Agreement> agreement =
        agree_on(own, welcome->point, Side::kClient, options_.rank,
                 endpoint_of(collector_.descriptor(), Side::kClient));
    // To one of another protocol, whose point it may not be, too: it says which one it speaks.
    if (agreement) knock.proof = agreement->proof(Side::kClient);
    if (Result<void> sent = collector_.send(knock); !sent) return sent;
    const Result<process::Received> answer = collector_.receive_any(kGreetingLimit);
    if (!answer) return answer.error();
    const Result<Admitted> admitted = Talk::take<Admitted>(*answer);
    if (!admitted) return not_admitted(*welcome);
    if (!agreement || !process::are_equal(admitted->proof, agreement->proof(Side::kServer))) {
      return Error{EACCES,
                   "whoever listens there does not know the token of the run, so it may be an "
                   "impostor"};
    }
    collector_.seal(*agreement, Side::kClient);
    return collector_.send(Join{own_name(), own_machine(options_.root)});
  }

  Result<void> serve() {
    Nanoseconds next_look = now() + kHeartbeat;
    for (int silent_looks = 0; silent_looks < kMostSilentLooks;) {
      pollfd entries[2] = {{collector_.descriptor(), POLLIN, 0}, {worker_fd_, POLLIN, 0}};
      if (poll(entries, 2, static_cast<int>(kHeartbeat / kMillisecond)) < 0) {
        if (errno != EINTR) return from_errno("poll");
        continue;
      }
      if (now() >= next_look) {
        ++silent_looks;
        next_look = now() + kHeartbeat;
      }
      if (entries[1].revents != 0) take_from_worker();
      if (entries[0].revents == 0) continue;
      const Result<process::Received> received = collector_.receive_any(0);
      if (!received && received.error().code == ETIMEDOUT) continue;  // not whole yet
      // The collector's end is the run's.
      if (!received) return received.error().code == ECONNRESET ? Result<void>() : received.error();
      silent_looks = 0;
      if (received->kind == Talk::number_of<Finish>()) return {};
      if (Result<void> taken = take_from_collector(*received); !taken) return taken;
    }
    return Error{ETIMEDOUT,
                 fmt::format("the collector has said nothing for {} s, so it is given up",
                             kMostSilentLooks * kHeartbeat / kSecond)};
  }

 private:
  // What is said before a proof may be anybody's, so none of it is passed on but a version.
  Error not_admitted(const Welcome& welcome) const {
    if (welcome.protocol != kProtocol || welcome.version != options_.version) {
      return {EPROTO,
              fmt::format("the collector runs gdrkit {}, and this host {}: install the same "
                          "version",
                          said(welcome.version, kMostName), options_.version)};
    }
    return {EACCES,
            "whoever listens there does not let this host in: the token of the run is "
            "another one there"};
  }

  Result<void> take_from_collector(const process::Received& received) {
    if (received.kind == Talk::number_of<Failure>()) {
      const Result<Failure> failure = process::decode<Failure>(received.bytes);
      return failure ? Error{EACCES, failure->text} : failure.error();
    }
    if (received.kind == Talk::number_of<process::Nothing>()) return {};
    if (received.kind == Talk::number_of<Begin>()) {
      start_worker();
    } else if (received.kind == Talk::number_of<Examine>()) {
      return collector_.send(examination_ ? examination_->ask() : Examined{});
    }
    if (!worker_) return {};
    // What cannot be sent finds its end in the worker's socket.
    (void)worker_->send_raw(received.kind, received.bytes);
    return {};
  }

  void start_worker() {
    if (process_) return;
    Result<process::Worker> started = process::Worker::start(options_.program, {"fabric-worker"});
    if (!started) {
      (void)collector_.send(Unable{"the process for its rails: " + started.error().message});
      return;
    }
    process_.emplace(*std::move(started));
    UniqueFd socket = process_->take_socket();
    worker_fd_ = socket.get();
    worker_.emplace(std::move(socket));
  }

  void take_from_worker() {
    const Result<process::Received> received = worker_->receive_any(0);
    if (!received && received.error().code == ETIMEDOUT) return;
    if (!received) {
      const std::string end = process::Worker::post_mortem(process_->pid());
      (void)collector_.send(Failure{ECONNRESET, "the process that holds its rails is gone: " +
                                                    (end.empty() ? "it closed its socket" : end)});
      worker_.reset();
      worker_fd_ = -1;
      return;
    }
    if (received->kind == Talk::number_of<Ready>()) {
      if (Result<Ready> ready = process::decode<Ready>(received->bytes)) {
        examination_.emplace(options_.program, options_.root, ready->rails);
      }
    }
    (void)collector_.send_raw(received->kind, received->bytes);
  }

  const MemberOptions& options_;
  Talk collector_;
  std::optional<process::Worker> process_;
  int worker_fd_ = -1;
  std::optional<Talk> worker_;  // goes first, which asks the process to end
  std::optional<Examination> examination_;
};

}  // namespace

Result<void> serve_collector(UniqueFd socket, const MemberOptions& options) {
  Member member(std::move(socket), options);
  if (Result<void> joined = member.join(); !joined) return joined;
  return member.serve();
}

}  // namespace gdr::fabric
