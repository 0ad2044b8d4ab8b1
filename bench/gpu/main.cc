// Speed of RC writes and reads of GPU memory between two processes, each with a GPU of its own,
// beside bare copies and staged ones: bench/README.md.
#include <dlfcn.h>
#include <signal.h>
#include <sys/mman.h>
#include <unistd.h>

#include <cerrno>
#include <chrono>
#include <cstdio>
#include <cstring>
#include <new>

#include "cases.h"
#include "child.h"
#include "clock.h"
#include "fail.h"
#include "options.h"
#include "report.h"
#include "runner.h"
#include "serve.h"
#include "side.h"
#include "socket.h"

namespace {

using namespace gdr::bench;

constexpr std::size_t kClaimed = 64 << 20;
constexpr std::size_t kFewestRounds = 3;
constexpr std::size_t kMostRounds = 201;

extern "C" void on_alarm(int) {
  constexpr char kLine[] = "bench_gpu_path: stopped, it ran far past --seconds\n";
  [[maybe_unused]] const ssize_t written = write(STDERR_FILENO, kLine, sizeof kLine - 1);
  _exit(1);
}

Flags& share_flags() {
  void* memory =
      mmap(nullptr, sizeof(Flags), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
  if (memory == MAP_FAILED) fail("mmap: %s", std::strerror(errno));
  return *new (memory) Flags;
}

void print_setting(Side& side, const Options& options) {
  Dl_info library{};
  dladdr(reinterpret_cast<const void*>(&ibv_get_device_list), &library);
  std::printf("GPU %d (%s) -> peer's %s; GPU memory by %s; %d in flight\n", side.gpu().ordinal(),
              side.gpu().name().c_str(), side.peers_gpu().c_str(),
              options.vmm ? "cuMemCreate" : "cuMemAlloc", options.in_flight);
  std::printf("%s of %s\n", side.link().device(), library.dli_fname);
  std::printf("%s\n\n", side.gpu().driver_path().c_str());
}

void round_of(Runner& runner, std::size_t bytes, bool checked, Samples& samples) {
  // Every other round the other way round: no case always follows the same one.
  const bool backwards = samples[kBareCopy].size() % 2 == 1;
  for (std::size_t i = 0; i < kCases; ++i) {
    const auto id = static_cast<CaseId>(backwards ? kCases - 1 - i : i);
    if (!Runner::applies(id, bytes)) continue;
    samples[id].push_back(checked ? runner.run_checked(id, bytes) : runner.run(id, bytes));
  }
}

Samples measure(Runner& runner, std::size_t bytes, Clock::time_point end) {
  Samples warming_up;
  round_of(runner, bytes, false, warming_up);
  Samples samples;
  do {
    round_of(runner, bytes, false, samples);
  } while (samples[kBareCopy].size() + 1 < kFewestRounds ||
           (Clock::now() < end && samples[kBareCopy].size() + 1 < kMostRounds));
  // The last round is timed as the others are: what is checked is what was timed.
  round_of(runner, bytes, true, samples);
  return samples;
}

void run(Runner& runner, const Options& options) {
  const Clock::time_point end = Clock::now() + std::chrono::seconds(options.seconds);
  Samples claimed;
  bool is_claimed = false;
  print_heading();
  for (std::size_t i = 0; i < options.sizes.size(); ++i) {
    const auto left = static_cast<Clock::rep>(options.sizes.size() - i);
    const Clock::time_point now = Clock::now();
    const Samples samples = measure(runner, options.sizes[i], now + (end - now) / left);
    print_samples(options.sizes[i], samples);
    if (options.sizes[i] != kClaimed) continue;
    claimed = samples;
    is_claimed = true;
  }
  print_claims(is_claimed ? &claimed : nullptr);
}

}  // namespace

int main(int argc, char** argv) {
  const Options options = parse_options(argc, argv);
  Flags& flags = share_flags();
  // Before anything of CUDA or verbs is open: it would not work in a forked child.
  const Child peer([&](int socket) { serve_as_peer(options, socket, flags); });
  const Child copier([&](int socket) { serve_copies(options, socket); });
  signal(SIGALRM, on_alarm);
  alarm(static_cast<unsigned>(120 + 2 * options.seconds));
  Side side(options, false, peer.socket(), flags);
  send_packet(copier.socket(), &side.exported(), sizeof(ExportedMemory), side.descriptor());
  print_setting(side, options);
  Runner runner(side, peer, copier, options.in_flight);
  run(runner, options);
  return 0;
}
