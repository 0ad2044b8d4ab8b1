#include "proof/hosts/server.h"

#include <fmt/format.h>

#include "perf/guests.h"
#include "proof/hosts/session.h"
#include "text/format.h"

namespace gdr::proof {
namespace {

std::string greeting(const Machine& machine, const Selection& chosen,
                     const perf::Listening& listening, const ServerOptions& options) {
  const InventoryReport& inventory = machine.inventory;
  std::string text = "serving " + chosen.far.text() + (inventory.soft_nic ? " (STAND-IN)" : "");
  if (!chosen.far_gpu_text.empty()) {
    text += " and " + chosen.far_gpu_text + (inventory.soft_gpu ? " (STAND-IN)" : "");
  }
  const std::string port =
      options.port == kServerPort ? "" : " --port " + std::to_string(options.port);
  text += fmt::format(" on TCP port {} of {}", options.port, listening.where());
  if (!listening.is_open()) {
    return text +
           ", for this host only (--listen any serves other hosts); client: gdr prove "
           "localhost" +
           port;
  }
  text += "; client, on the other host: gdr prove " + machine.facts.host + port;
  if (options.secret_file) return text + " --secret FILE";
  return text + "; anybody who reaches this port can use the server (--secret FILE prevents it)";
}

// What each client meets is found out again for it; a wrong name on the command line now.
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
  return greeting(*machine, *chosen, listening, options);
}

}  // namespace

Result<void> serve(const ServerOptions& options, const std::function<void(const std::string&)>& say,
                   const std::atomic<bool>& interrupted) {
  std::optional<perf::Secret> secret;
  if (options.secret_file) {
    Result<perf::Secret> read = perf::Secret::read(*options.secret_file);
    if (!read) return read.error();
    secret = *std::move(read);
  }
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
        Session session(std::move(client), options, secret, booth, interrupted);
        const Result<std::string> done = session.serve();
        const std::lock_guard guard(say_mutex);
        say(name + ": " + (done ? *done : "ended early: " + done.error().message));
      },
      interrupted);
  guests.serve(*listening);
  return {};
}

}  // namespace gdr::proof
