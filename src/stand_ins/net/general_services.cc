#include "net/general_services.h"

#include <unistd.h>

#include <algorithm>
#include <cerrno>

#include "base/quiet_thread.h"
#include "engine/transmit.h"
#include "net/port.h"

namespace gdr::net {
namespace {

// Fewer than are read meanwhile, so that a flood fills the inbox, where its source
// shows, and not the socket, which drops everybody's.
constexpr std::uint32_t kMostAtOnce = 8;
static_assert(kMostAtOnce < kMostArrivals);
constexpr std::size_t kMostUndecided = 1024;
constexpr Nanoseconds kDecideAgain = kMillisecond, kLookingsShare = 10;
// A process that is stopped makes a look last long; when it goes on, what is for it is not to wait.
constexpr Nanoseconds kLongestPause = kSecond;
// Whoever is silent is given up by Neighbours::knows_everyone; that is not waited for for ever.
constexpr Nanoseconds kMostUndecidedFor = 8 * kSecond;
constexpr std::size_t kMostDeliveries = 4096;

}  // namespace

Result<std::shared_ptr<Gsi>> GeneralServices::open(GsiUser user) {
  const std::lock_guard guard(mutex_);
  if (!has_thread_) {
    Result<void> started = start_quiet_thread("gdr-gsi", [this] { call_users(); });
    if (!started) return started.error();
    has_thread_ = true;
  }
  auto gsi = std::make_shared<Gsi>(Gsi{std::move(user), ++last_number_});
  open_.push_back(gsi);
  return gsi;
}

void GeneralServices::close(const Gsi& gsi) {
  adapter_.listeners().remove_all_of(gsi.number);
  std::unique_lock guard(mutex_);
  deliveries_.erase_if([&](const Delivery& delivery) { return delivery.gsi.get() == &gsi; });
  std::erase_if(open_, [&](const std::shared_ptr<Gsi>& one) { return one.get() == &gsi; });
  // A user may close itself in a call.
  if (calling_thread_ == gettid()) return;
  called_.wait(guard, [&] { return in_call_.get() != &gsi; });
}

Result<void> GeneralServices::listen(const Gsi& gsi, std::uint64_t service_id) {
  Result<void> added = adapter_.listeners().add({gsi.device, service_id, gsi.number});
  if (added) ports_.listeners_changed(gsi.device);
  return added;
}

Result<void> GeneralServices::unlisten(const Gsi& gsi, std::uint64_t service_id) {
  Result<void> removed = adapter_.listeners().remove({gsi.device, service_id, gsi.number});
  if (removed) ports_.listeners_changed(gsi.device);
  return removed;
}

MadInbox::Put GeneralServices::take(const ArrivedMad& arrived) {
  counters_.add(Counter::kMadReceived);
  return inbox_.put(arrived);
}

Nanoseconds GeneralServices::route(Nanoseconds time) {
  ArrivedMad arrived;
  for (std::uint32_t i = 0; i < kMostAtOnce && inbox_.take(&arrived); ++i) {
    if (route(arrived, Knows::kSome)) continue;
    if (undecided_.has_room_for(arrived.mad.source, kMostUndecided)) {
      undecided_.push(arrived.mad.source, {arrived, time});
    } else {
      counters_.add(Counter::kMadNoRoom);
    }
  }
  decide(time);
  if (!inbox_.empty()) return time;
  return undecided_.empty() ? engine::kNever : std::max(time, look_again_at_);
}

// Who is looked for now is whoever was there when they arrived: a listener of which a client knows
// holds its slot already. Looking takes some milliseconds, of which a flood of requests for nobody
// must not make more than a small part of the thread's time.
void GeneralServices::decide(Nanoseconds time) {
  if (undecided_.empty() || time < look_again_at_) return;
  const Nanoseconds start = now();
  const bool everyone = adapter_.neighbours().knows_everyone();
  const Nanoseconds end = now();
  look_again_at_ = end + std::clamp(kLookingsShare * (end - start), kDecideAgain, kLongestPause);
  undecided_.erase_if([&](const Undecided& one) {
    const bool overdue = time - one.since > kMostUndecidedFor;
    return route(one.arrived, everyone || overdue ? Knows::kEveryone : Knows::kSome);
  });
}

bool GeneralServices::route(const ArrivedMad& arrived, Knows knows) {
  const std::optional<MadRoute> route = route_of(arrived.mad);
  if (!route) {
    counters_.add(Counter::kMadForNobody);
    return true;
  }
  // Who hands one over has looked.
  if (!arrived.is_stray && ports_.is_forged(arrived)) {
    if (knows == Knows::kEveryone) counters_.add(Counter::kWrongSourcePort);
    return knows == Knows::kEveryone;
  }
  if (route->is_request) return route_request(arrived, route->number, knows);
  return route_answer(arrived, static_cast<std::uint32_t>(route->number >> kMadIdBits), knows);
}

bool GeneralServices::route_answer(const ArrivedMad& arrived, std::uint32_t slot, Knows knows) {
  if (slot == rnic::slot_of(adapter_.token())) {
    deliver(arrived.mad, [&](const Gsi& gsi) { return gsi.device == arrived.device; });
    return true;
  }
  const bool may_be_others = slot != 0 && !arrived.is_stray;
  if (may_be_others && pass_on(arrived, slot)) return true;
  if (may_be_others && knows != Knows::kEveryone) return false;
  answer_for_the_ended(arrived);
  return true;
}

// False: nobody is there.
bool GeneralServices::pass_on(const ArrivedMad& arrived, std::uint32_t slot) {
  const int error = ports_.pass_on(arrived, slot);
  if (error == ESRCH) return false;
  counters_.add(error == 0 ? Counter::kForwarded : Counter::kMadNoRoom);
  return true;
}

void GeneralServices::answer_for_the_ended(const ArrivedMad& arrived) {
  counters_.add(Counter::kMadForNobody);
  if (const std::optional<Mad> answer = make_disconnected(arrived.mad)) {
    ports_.answer_mad(arrived.device, *answer);
  }
}

void GeneralServices::process_ended(const wire::Address& address, std::uint32_t slot) {
  const std::lock_guard guard(mutex_);
  // Not bounded by kMostDeliveries: addresses and slots are few, and each process ends once.
  for (const std::shared_ptr<Gsi>& gsi : open_) {
    if (gsi->ended) deliveries_.push(address, {gsi, Ended{address, slot << kMadIdBits}});
  }
  arrived_.notify_one();
}

// Who lingers comes behind who listens, and others behind this process. What another process has
// handed over stays here, so one process alone answers it.
bool GeneralServices::route_request(const ArrivedMad& arrived, std::uint64_t service_id,
                                    Knows knows) {
  const auto own = adapter_.listeners().find(arrived.device, service_id);
  if ((!own || own->lingers) && !arrived.is_stray) {
    const std::uint32_t slot =
        slot_of_listener(arrived.mad.destination, service_id,
                         own ? rnic::ListenerState::kListens : rnic::ListenerState::kLingers);
    if (slot != 0 && pass_on(arrived, slot)) return true;
    if (knows != Knows::kEveryone) return false;
  }
  if (own) {
    deliver(arrived.mad, [&](const Gsi& gsi) { return gsi.number == own->owner; });
    return true;
  }
  counters_.add(Counter::kMadRefused);
  ports_.answer_mad(arrived.device, make_refusal(arrived.mad));
  return true;
}

// A slot of another process. 0: there is none.
std::uint32_t GeneralServices::slot_of_listener(const wire::Address& address,
                                                std::uint64_t service_id,
                                                rnic::ListenerState least) {
  std::uint32_t lingering = 0, listening = 0;
  adapter_.neighbours().any_segment([&](rnic::Segment& segment) {
    const rnic::ListenerState state = rnic::find_listener(segment, address, service_id);
    const std::uint32_t slot = rnic::slot_of(rnic::read_once(segment.header().token));
    if (state == rnic::ListenerState::kListens) listening = slot;
    if (state == rnic::ListenerState::kLingers && state >= least) lingering = slot;
    return listening != 0;
  });
  return listening != 0 ? listening : lingering;
}

template <typename IsFor>
void GeneralServices::deliver(const Mad& mad, IsFor is_for) {
  const std::lock_guard guard(mutex_);
  bool somebody = false;
  for (const std::shared_ptr<Gsi>& gsi : open_) {
    if (!is_for(*gsi)) continue;
    somebody = true;
    if (deliveries_.has_room_for(mad.source, kMostDeliveries)) {
      deliveries_.push(mad.source, {gsi, mad});
    } else {
      counters_.add(Counter::kMadNoRoom);
    }
  }
  if (!somebody) counters_.add(Counter::kMadForNobody);
  arrived_.notify_one();
}

void GeneralServices::call_users() {
  std::unique_lock guard(mutex_);
  calling_thread_ = gettid();
  while (true) {
    arrived_.wait(guard, [this] { return !deliveries_.empty(); });
    const Delivery delivery = *deliveries_.take();
    in_call_ = delivery.gsi;
    guard.unlock();
    if (const Mad* mad = std::get_if<Mad>(&delivery.what)) {
      delivery.gsi->receive(*mad);
    } else {
      delivery.gsi->ended(std::get<Ended>(delivery.what));
    }
    guard.lock();
    in_call_ = nullptr;
    called_.notify_all();
  }
}

}  // namespace gdr::net
