#include "cli/interruption.h"

#include <signal.h>

namespace gdr::cli {
namespace {

std::atomic<bool> interrupted{false};

}  // namespace

const std::atomic<bool>& watch_interruption() {
  struct sigaction action {};
  action.sa_handler = [](int) { interrupted.store(true); };
  action.sa_flags = static_cast<int>(SA_RESETHAND);
  for (int signal : {SIGINT, SIGTERM}) sigaction(signal, &action, nullptr);
  return interrupted;
}

}  // namespace gdr::cli
