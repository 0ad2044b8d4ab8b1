#include "perf/guests.h"

#include <memory>

#include "perf/caught.h"
#include "process/conversation.h"
#include "text/format.h"

namespace gdr::perf {
namespace {

constexpr Nanoseconds kLook = 200 * kMillisecond;
constexpr std::size_t kMostClients = 32;

// A Failure has the same number in every conversation.
void turn_away(UniqueFd client, const Error& why) {
  process::Conversation<std::tuple<process::Failure>> talk(std::move(client));
  (void)talk.send(process::Failure{why.code, why.message});
}

}  // namespace

Guests::~Guests() {
  for (Guest& guest : guests_) guest.thread.join();
}

void Guests::serve(const Listening& listening) {
  while (!interrupted_.load()) {
    const Result<void> received = caught([&] { return receive(listening); });
    if (received || received.error().code == ETIMEDOUT) continue;
    // No descriptors, threads or memory: asking again at once would take a processor and help
    // nobody.
    std::this_thread::sleep_for(std::chrono::nanoseconds(kLook));
  }
}

Result<void> Guests::receive(const Listening& listening) {
  Result<Visitor> visitor = listening.accept(kLook);
  see_out();
  if (!visitor) return visitor.error();
  if (guests_.size() >= kMostClients) {
    turn_away(std::move(visitor->fd),
              {EBUSY, "this server already has " + text::plural(kMostClients, "client") +
                          "; try again later"});
    return {};
  }
  std::list<Guest> arrived;
  Guest& guest = arrived.emplace_back();
  // Shared: the thread has it, and so has this one if there is no thread.
  auto client = std::make_shared<UniqueFd>(std::move(visitor->fd));
  Result<void> begun = start_thread(guest.thread, [this, &guest, client, name = visitor->name] {
    (void)caught([&]() -> Result<void> {
      entertain_(std::move(*client), name);
      return {};
    });
    guest.has_gone.store(true);
  });
  if (begun) {
    guests_.splice(guests_.end(), arrived);
  } else {
    turn_away(std::move(*client), begun.error());
  }
  return begun;
}

void Guests::see_out() {
  for (auto guest = guests_.begin(); guest != guests_.end();) {
    if (!guest->has_gone.load()) {
      ++guest;
      continue;
    }
    guest->thread.join();
    guest = guests_.erase(guest);
  }
}

}  // namespace gdr::perf
