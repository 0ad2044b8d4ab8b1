// GeneralServices: queue pair 1 of this process's devices: management datagrams (MADs) of
// connection management, to and from whoever has opened it.
//
//   Result<std::shared_ptr<Gsi>> gsi = services.open(
//       {.device = 0, .receive = [](const Mad& mad) { ... }, .ended = [](const Ended& whose) { ...
//       }});
//   services.listen(**gsi, service_id);
//   services.close(**gsi);
//
// The kernel gives an arriving MAD to any process on the address. Where packets arrive, take() only
// puts it into a bounded inbox. The progress thread's route() finds out whose it is, a few at a
// time, since timers of connections wait meanwhile:
//   - a request (REQ, SIDR_REQ): who listens for its service id, here or in another process
//     (rnic/listeners.h); nobody: it is answered with a refusal;
//   - any other: the process whose slot is in the id that it answers to. It has ended: a DREQ is
//     answered, for its connection is gone, which is what it asks for.
// Another process's is handed over to it, once. This process's waits, in a bounded queue, for the
// thread that calls the users, one call at a time.
//
// That nobody is there can only be said by who knows everyone. A process that has just begun, or
// one that others keep off the processor, may not have met the listener yet, or whoever has sent
// something: such a MAD is undecided, and looked at again until everyone is known, or for
// kMostUndecidedFor.
//
// In the name of a device of this account within this host only this account's private ports speak
// (private_socket.h). Everybody else may send MADs, as everybody may on a network.
//
// Threads: any; take() under the path's receive lock, route() on the progress thread.
#pragma once

#include <atomic>
#include <condition_variable>
#include <functional>
#include <memory>
#include <mutex>
#include <variant>
#include <vector>

#include "base/clock.h"
#include "base/result.h"
#include "net/counters.h"
#include "net/fair_queue.h"
#include "net/mad_inbox.h"
#include "rnic/adapter.h"

namespace gdr::net {

// Where MADs leave: PacketPath.
class MadPorts {
 public:
  virtual ~MadPorts() = default;
  virtual void answer_mad(std::uint32_t device, const Mad& mad) = 0;
  // To the process in that slot. 0, ESRCH: nobody is there, EAGAIN: it has no room for more.
  virtual int pass_on(const ArrivedMad& arrived, std::uint32_t slot) = 0;
  // Somebody has begun to listen, or has ended: what arrives may be for others.
  virtual void listeners_changed(std::uint32_t device) = 0;
  // It comes in the name of this account, and from a port that is not this account's.
  virtual bool is_forged(const ArrivedMad& arrived) = 0;
};

// A process of this account on this host has ended: the ids with that prefix, from that address,
// are nobody's.
struct Ended {
  wire::Address address{};
  std::uint32_t prefix = 0;
};

// One user of queue pair 1 on one device.
struct GsiUser {
  std::uint32_t device = 0;
  std::function<void(const Mad&)> receive;
  std::function<void(const Ended&)> ended;  // may be empty
};
struct Gsi : GsiUser {
  std::uint64_t number = 0;
};

class GeneralServices {
 public:
  GeneralServices(rnic::Adapter& adapter, Counters& counters, MadPorts& ports)
      : adapter_(adapter), counters_(counters), ports_(ports) {}

  Result<std::shared_ptr<Gsi>> open(GsiUser user);
  // No call of its functions runs or begins once this has returned, but for one that it was called
  // from.
  void close(const Gsi& gsi);
  // EADDRINUSE, ENOMEM.
  Result<void> listen(const Gsi& gsi, std::uint64_t service_id);
  // EINVAL: it does not listen for that.
  Result<void> unlisten(const Gsi& gsi, std::uint64_t service_id);
  // A process of this account that may have had the address.
  void process_ended(const wire::Address& address, std::uint32_t slot);
  // The upper bits of the ids that this process gives out.
  std::uint32_t id_prefix() const { return rnic::slot_of(adapter_.token()) << kMadIdBits; }

  MadInbox::Put take(const ArrivedMad& arrived);
  // When to come again: kNever if nothing is left.
  Nanoseconds route(Nanoseconds time);

  void prepare_fork() { mutex_.lock(); }
  void after_fork() { mutex_.unlock(); }

 private:
  struct Delivery {
    std::shared_ptr<Gsi> gsi;
    std::variant<Mad, Ended> what;
  };
  struct Undecided {
    ArrivedMad arrived;
    Nanoseconds since;
  };
  // Whether it knows by now that nobody is there.
  enum class Knows { kSome, kEveryone };
  // False: it is undecided.
  bool route(const ArrivedMad& arrived, Knows knows);
  bool route_answer(const ArrivedMad& arrived, std::uint32_t slot, Knows knows);
  bool route_request(const ArrivedMad& arrived, std::uint64_t service_id, Knows knows);
  bool pass_on(const ArrivedMad& arrived, std::uint32_t slot);
  void decide(Nanoseconds time);
  std::uint32_t slot_of_listener(const wire::Address& address, std::uint64_t service_id,
                                 rnic::ListenerState least);
  template <typename IsFor>
  void deliver(const Mad& mad, IsFor is_for);
  void answer_for_the_ended(const ArrivedMad& arrived);
  void call_users();

  rnic::Adapter& adapter_;
  Counters& counters_;
  MadPorts& ports_;
  MadInbox inbox_;
  // On the progress thread only.
  FairQueue<Undecided> undecided_;
  Nanoseconds look_again_at_ = 0;

  std::mutex mutex_;  // the rest
  std::condition_variable arrived_, called_;
  std::vector<std::shared_ptr<Gsi>> open_;
  FairQueue<Delivery> deliveries_;
  std::shared_ptr<Gsi> in_call_;
  std::uint64_t last_number_ = 0;
  bool has_thread_ = false;
  pid_t calling_thread_ = 0;  // the one that calls users, once it runs
};

}  // namespace gdr::net
