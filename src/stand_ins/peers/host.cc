#include "peers/host.h"

#include <pthread.h>

#include <mutex>

#include "base/random.h"
#include "peers/slots.h"

namespace gdr::peers {

// In the order of what needs what. Never destroyed: threads of it run until the process ends.
struct Host::Parts {
  Peers peers;
  Opener opener;
  ServiceThread service;
  Neighbours neighbours;
  std::unique_ptr<rnic::Adapter> adapter;
  Carriers carriers;

  Parts(rnic::Token token, Slot slot, Doorbell doorbell)
      : peers(token, doorbell.outer.get()),
        opener(peers),
        service(peers, std::move(slot.listener), std::move(doorbell)),
        neighbours(peers, service, opener) {
    peers.on_waiting([this](int connection) { service.watch_meeting(connection); });
    peers.on_met([this](Peer& peer) { service.watch(peer); });
  }
};

namespace {

std::mutex instance_mutex;
Host* the_instance = nullptr;

}  // namespace

Host::Host(std::unique_ptr<Parts> parts) : parts_(std::move(parts)) {}
Host::~Host() = default;

rnic::Adapter& Host::adapter() { return *parts_->adapter; }

Result<Host*> Host::instance(MakeCarriers make_carriers) {
  const std::lock_guard guard(instance_mutex);
  if (the_instance != nullptr) return the_instance;
  Result<std::unique_ptr<Parts>> parts = start(make_carriers);
  if (!parts) return parts.error();
  the_instance = new Host(*std::move(parts));
  static const int registered = pthread_atfork(prepare_fork, parent_of_fork, child_of_fork);
  (void)registered;
  return the_instance;
}

Result<std::unique_ptr<Host::Parts>> Host::start(MakeCarriers make_carriers) {
  const Result<std::vector<rnic::DeviceConfiguration>>& devices = rnic::devices_of_process();
  if (!devices) return devices.error();
  Result<Slot> slot = claim_slot();
  if (!slot) return slot.error();
  Result<Doorbell> doorbell = Doorbell::make();
  if (!doorbell) return doorbell.error();
  const rnic::Token token =
      rnic::make_token(slot->number, static_cast<std::uint32_t>(random_u64()));
  auto parts = std::make_unique<Parts>(token, *std::move(slot), *std::move(doorbell));
  Result<std::unique_ptr<rnic::Adapter>> adapter =
      rnic::Adapter::create(token, *devices, parts->neighbours, parts->peers);
  if (!adapter) return adapter.error();
  parts->adapter = *std::move(adapter);
  parts->neighbours.start(*parts->adapter);
  parts->opener.tell_in(parts->adapter->segment().header());
  Result<Carriers> carriers = make_carriers(*parts->adapter, parts->neighbours);
  if (!carriers) return carriers.error();
  parts->carriers = *std::move(carriers);
  parts->adapter->carry_by(*parts->carriers.local, parts->carriers.beyond.get());
  parts->peers.show(parts->adapter->segment());
  if (Result<void> started = parts->service.start(*parts->adapter, parts->opener); !started) {
    return started.error();
  }
  // So that everyone knows this process before anyone can be told of a queue pair in it.
  parts->peers.meet_everyone();
  return parts;
}

// A child has neither the threads nor the segments (they are not inherited); the descriptors it
// does inherit are closed, so that the parent's death still shows to its peers. The parent's verbs
// objects can be destroyed in the child, to no effect on the parent. A device opened there starts
// afresh.
void Host::prepare_fork() {
  instance_mutex.lock();
  if (the_instance == nullptr) return;
  if (auto& beyond = the_instance->parts_->carriers.beyond) beyond->prepare_fork();
  the_instance->adapter().prepare_fork();
  the_instance->parts_->peers.prepare_fork();
  rnic::Segment::prepare_fork();
}

void Host::parent_of_fork() {
  if (the_instance != nullptr) {
    rnic::Segment::parent_of_fork();
    the_instance->parts_->peers.parent_of_fork();
    the_instance->adapter().parent_of_fork();
    if (auto& beyond = the_instance->parts_->carriers.beyond) beyond->parent_of_fork();
  }
  instance_mutex.unlock();
}

void Host::child_of_fork() {
  if (the_instance != nullptr) {
    Parts& parts = *the_instance->parts_;
    rnic::Segment::child_of_fork();
    parts.peers.child_of_fork();
    parts.service.close_in_child();
    parts.opener.child_of_fork();
    parts.adapter->child_of_fork();
    if (parts.carriers.beyond != nullptr) parts.carriers.beyond->child_of_fork();
    the_instance = nullptr;
  }
  instance_mutex.unlock();
}

}  // namespace gdr::peers
