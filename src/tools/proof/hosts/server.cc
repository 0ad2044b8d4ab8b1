#include "proof/hosts/server.h"

#include "perf/guests.h"
#include "proof/hosts/session.h"

namespace gdr::proof {
namespace {

std::string names_of(const InventoryReport& inventory, const Selection& chosen) {
  std::string names = chosen.far.text() + (inventory.soft_nic ? " (STAND-IN)" : "");
  if (chosen.far_gpu_text.empty()) return names;
  return names + " and " + chosen.far_gpu_text + (inventory.soft_gpu ? " (STAND-IN)" : "");
}

// A wrong name on the command line is told now; what a client meets is found out again for it.
Result<std::string> look(const ServerOptions& options, const perf::Listening& listening) {
  Result<Machine> machine = take_stock(options.proof);
  if (!machine) return machine.error();
  const std::optional<Obstacle> obstacle = obstacle_on(*machine, options.proof);
  if (obstacle) {
    return "serving, but clients are told that nothing can be proved here: " +
           obstacle->seen.front() + "; type here: gdr prove";
  }
  const Result<Selection> chosen = choose_own(machine->inventory, options.proof);
  if (!chosen) return chosen.error();
  return text_of({names_of(machine->inventory, *chosen), text::Command("gdr prove"),
                  machine->facts.host, options.port, kServerPort, options.secret_file.has_value()},
                 listening);
}

}  // namespace

Result<void> serve(const ServerOptions& options, const std::function<void(const std::string&)>& say,
                   const std::atomic<bool>& interrupted) {
  const Result<std::optional<perf::Secret>> secret = perf::Secret::read_given(options.secret_file);
  if (!secret) return secret.error();
  Result<perf::Listening> listening = perf::listen_on(options.listen_address, options.port);
  if (!listening) return listening.error();
  prepare_environment(options.proof);
  const Result<std::string> greets = look(options, *listening);
  if (!greets) return greets.error();
  say(*greets);
  Booth booth;
  std::mutex say_mutex;
  perf::Guests guests(
      [&](UniqueFd client, const std::string& name) {
        Session session(std::move(client), options, *secret, booth, interrupted);
        const Result<std::string> done = session.serve();
        const std::lock_guard guard(say_mutex);
        say(name + ": " + (done ? *done : "ended early: " + done.error().message));
      },
      interrupted);
  guests.serve(*listening);
  return {};
}

}  // namespace gdr::proof
