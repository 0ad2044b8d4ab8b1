// The server: each client by a session and a thread of its own, one of which measures at a time.
#include <sys/socket.h>

#include <list>
#include <mutex>
#include <thread>

#include "perf/caught.h"
#include "perf/choice.h"
#include "perf/listen.h"
#include "perf/run.h"
#include "perf/session.h"
#include "text/format.h"

namespace gdr::perf {
namespace {

constexpr Nanoseconds kLook = 200 * kMillisecond;
constexpr std::size_t kMostClients = 32;

class Server {
 public:
  Server(const Ports& ports, const Description& told, const Terms& terms,
         const std::function<void(const std::string&)>& say, const std::atomic<bool>& interrupted)
      : ports_(ports), told_(told), terms_(terms), say_(say), interrupted_(interrupted) {}
  ~Server() {
    for (Guest& guest : guests_) guest.thread.join();
  }

  void serve(const Listening& listening) {
    while (!interrupted_.load()) {
      const Result<void> received = caught([&] { return receive(listening); });
      if (received || received.error().code == ETIMEDOUT) continue;
      // No descriptors, threads or memory: asking again at once would take a processor and help
      // nobody.
      std::this_thread::sleep_for(std::chrono::nanoseconds(kLook));
    }
  }

 private:
  struct Guest {
    Guest(UniqueFd fd, std::string who) : control(std::move(fd)), name(std::move(who)) {}
    Control control;
    const std::string name;
    std::thread thread;
    std::atomic<bool> has_gone{false};
  };

  Result<void> receive(const Listening& listening) {
    Result<Visitor> visitor = listening.accept(kLook);
    see_out();
    if (!visitor) return visitor.error();
    std::list<Guest> arrived;
    Guest& guest = arrived.emplace_back(std::move(visitor->fd), std::move(visitor->name));
    if (guests_.size() >= kMostClients) {
      (void)guest.control.send(Failure{
          EBUSY,
          "this server already has " + text::plural(kMostClients, "client") + "; try again later"});
      return {};
    }
    Result<void> begun = start_thread(guest.thread, [this, &guest] { entertain(guest); });
    if (begun) {
      guests_.splice(guests_.end(), arrived);
    } else {
      (void)guest.control.send(Failure{begun.error().code, begun.error().message});
    }
    return begun;
  }

  void entertain(Guest& guest) {
    (void)caught([&]() -> Result<void> {
      Control control = std::move(guest.control);  // closed when it ends
      talk(control, guest.name);
      return {};
    });
    guest.has_gone.store(true);
  }

  void talk(Control& control, const std::string& name) {
    Session session(control, ports_, told_, interrupted_, terms_, stage_);
    const Result<void> ended = session.serve();
    const std::lock_guard guard(say_mutex_);
    say_(name + ": " + text::plural(session.rows(), "measurement") + " done" +
         (ended ? "" : "; ended early: " + printable(ended.error().message)));
  }

  void see_out() {
    for (auto guest = guests_.begin(); guest != guests_.end();) {
      if (!guest->has_gone.load()) {
        ++guest;
        continue;
      }
      guest->thread.join();
      guest = guests_.erase(guest);
    }
  }

  const Ports& ports_;
  const Description& told_;
  const Terms& terms_;
  const std::function<void(const std::string&)>& say_;
  const std::atomic<bool>& interrupted_;
  Stage stage_;
  std::mutex say_mutex_;
  std::list<Guest> guests_;
};

std::string greeting(const Side& side, const Listening& listening, const Options& options) {
  std::string names;
  for (const Port& port : side.ports) {
    names += (names.empty() ? "" : ", ") + port.nic + " port " + std::to_string(port.number);
  }
  const std::string port = options.port == kPort ? "" : " --port " + std::to_string(options.port);
  std::string text = "serving " + names + (side.soft_nic ? " (STAND-IN)" : "") + " on TCP port " +
                     std::to_string(options.port) + " of " + listening.where();
  if (!listening.is_open()) {
    return text +
           ", for this host only (--listen any serves other hosts); client: gdr perf localhost" +
           port;
  }
  text += "; client, on the other host: gdr perf " + side.host + port;
  if (options.secret_file) return text + " --secret FILE";
  return text + "; anybody who reaches this port can use the server (--secret FILE prevents it)";
}

}  // namespace

Result<void> serve(const Options& options, const std::function<void(const std::string&)>& say,
                   const std::atomic<bool>& interrupted) {
  Terms terms;
  terms.whole = options.session_limit;
  terms.processors = options.processors;
  if (options.secret_file) {
    Result<Secret> secret = Secret::read(*options.secret_file);
    if (!secret) return secret.error();
    terms.secret = *std::move(secret);
  }
  Result<Choice> choice = choose(options, Role::kServer);
  if (!choice) return choice.error();
  Result<Ports> ports = open_ports(choice->names);
  if (!ports) return ports.error();
  Result<Listening> listening = listen_on(options.listen_address, options.port);
  if (!listening) return listening.error();
  const Description told = describe(*choice, *ports, options);
  say(greeting(told.side, *listening, options));
  Server(*ports, told, terms, say, interrupted).serve(*listening);
  return {};
}

}  // namespace gdr::perf
