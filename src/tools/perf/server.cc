// The server: each client by a session and a thread of its own, one of which measures at a time.
#include <mutex>

#include "perf/choice.h"
#include "perf/guests.h"
#include "perf/listen.h"
#include "perf/run.h"
#include "perf/session.h"
#include "text/format.h"

namespace gdr::perf {
namespace {

std::string names_of(const Side& side) {
  std::string names;
  for (const Port& port : side.ports) {
    names += (names.empty() ? "" : ", ") + port.nic + " port " + std::to_string(port.number);
  }
  return names + (side.soft_nic ? " (STAND-IN)" : "");
}

}  // namespace

Result<void> serve(const Options& options, const std::function<void(const std::string&)>& say,
                   const std::atomic<bool>& interrupted) {
  Terms terms;
  terms.whole = options.session_limit;
  terms.processors = options.processors;
  Result<std::optional<Secret>> secret = Secret::read_given(options.secret_file);
  if (!secret) return secret.error();
  terms.secret = *secret;
  Result<Choice> choice = choose(options, Role::kServer);
  if (!choice) return choice.error();
  Result<Ports> ports = open_ports(choice->names);
  if (!ports) return ports.error();
  Result<Listening> listening = listen_on(options.listen_address, options.port);
  if (!listening) return listening.error();
  const Description told = describe(*choice, *ports, options);
  say(text_of({names_of(told.side), text::Command("gdr perf"), told.side.host, options.port, kPort,
               options.secret_file.has_value()},
              *listening));
  Stage stage;
  std::mutex say_mutex;
  Guests guests(
      [&](UniqueFd client, const std::string& name) {
        Control control(std::move(client));
        Session session(control, *ports, told, interrupted, terms, stage);
        const Result<void> ended = session.serve();
        const std::lock_guard guard(say_mutex);
        say(name + ": " + text::plural(session.rows(), "measurement") + " done" +
            (ended ? "" : "; ended early: " + printable(ended.error().message)));
      },
      interrupted);
  guests.serve(*listening);
  return {};
}

}  // namespace gdr::perf
