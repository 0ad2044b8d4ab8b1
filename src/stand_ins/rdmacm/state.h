// The objects of librdmacm.so.1 and the one lock that guards all of them.
//
// Threads: the program's, libibverbs' callback for arrivals (arrivals.cc) and one thread for
// deadlines (timers.cc). Each takes Library::lock for as long as it reads or changes anything here;
// nobody waits for another thread with it held. Queue pairs are changed on the program's threads
// only, while it takes an event or calls.
#pragma once

#include <rdma/rdma_cma.h>

#include <condition_variable>
#include <cstdint>
#include <deque>
#include <list>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <set>
#include <utility>
#include <vector>

#include "cm/connection.h"
#include "cm/general_services.h"
#include "cm/service.h"

namespace gdr::rdmacm {

inline constexpr std::uint32_t kDatagramKey = RDMA_UDP_QKEY;
inline constexpr int kDefaultBacklog = 1024;

struct Id;

struct Device {
  ibv_context* context = nullptr;
  ibv_pd* pd = nullptr;
  ibv_xrcd* xrcd = nullptr;
  gdr_gsi* gsi = nullptr;
  ibv_device_attr attributes{};
  std::uint64_t guid = 0;
};

struct LocalAddress {  // a RoCE v2 entry of a GID table
  Device* device = nullptr;
  std::uint8_t port = 1;
  std::uint8_t index = 0;
  cm::Gid gid{};
};

// A connection and where it goes. Outlives its id until the other side knows that it is over.
struct Link {
  Link(std::uint32_t id, std::uint64_t transaction) : connection(id, transaction) {}
  cm::Connection connection;
  LocalAddress local;
  cm::Gid remote_gid{};
  Id* owner = nullptr;
  std::optional<cm::Time> scheduled;
};

// What a program gets, and what it may not see: where it is, whose it is.
struct QueuedEvent {
  rdma_cm_event event{};  // first: the program's pointer is this one's
  Id* id = nullptr;       // whose acknowledgement it counts for
  std::shared_ptr<Link> link;
  cm::Message message{};
  std::array<std::uint8_t, 256> private_data{};
  bool attach = false;  // a join: the queue pair is to be attached
  std::array<std::uint8_t, 16> group{};
};

struct Channel {
  rdma_event_channel visible{};  // first
  std::deque<std::unique_ptr<QueuedEvent>> events;
};

struct Membership {
  sockaddr_storage address{};
  cm::Gid gid{};
  bool attached = false;
};

enum class Phase : std::uint8_t { kIdle, kBound, kResolved, kRouted, kListening, kConnecting };

struct FreeAddresses {
  void operator()(rdma_addrinfo* addresses) const { rdma_freeaddrinfo(addresses); }
};

struct Id {
  rdma_cm_id visible{};  // first
  Phase phase = Phase::kIdle;
  bool synchronous = false;
  bool reuse_address = false;
  bool v6_only = false;
  std::uint8_t traffic_class = 0;
  std::optional<std::uint8_t> ack_timeout;
  std::optional<LocalAddress> local;
  cm::Gid remote_gid{};
  std::uint16_t port = 0;  // bound, host order
  int backlog = 0;
  std::vector<Device*> listening_on;
  std::shared_ptr<Link> link;
  std::uint8_t responder_resources = 0, initiator_depth = 0;
  std::uint32_t unacknowledged = 0;
  std::uint32_t qkey = 0;
  std::uint32_t psn = 0;  // what the other side is to begin with
  bool connect_error = false;
  std::list<Membership> memberships;
  ibv_ece local_ece{}, remote_ece{};
  std::unique_ptr<ibv_qp_init_attr> request_attributes;  // rdma_create_ep of a listener
  std::vector<std::uint8_t> connect_data;                // rdma_create_ep
  bool resolving_addresses = false;                      // until the program takes the result
  std::unique_ptr<rdma_addrinfo, FreeAddresses> addresses;
};

struct Library {
  std::mutex lock;
  std::condition_variable acknowledged;
  std::condition_variable timers_changed;
  bool timer_thread = false;
  bool devices_known = false;
  std::vector<std::unique_ptr<Device>> devices;
  std::set<Id*> ids;
  std::map<std::uint64_t, std::vector<Id*>> ports;                      // by service id
  std::map<std::uint32_t, std::shared_ptr<Link>> links;                 // by local communication id
  std::map<std::pair<cm::Gid, std::uint32_t>, std::uint32_t> requests;  // remote id to local id
  std::set<std::pair<cm::Time, std::uint32_t>> deadlines;
};

Library& library();
using Guard = std::unique_lock<std::mutex>;

inline Id& of(rdma_cm_id* id) { return *reinterpret_cast<Id*>(id); }
inline Channel& of(rdma_event_channel* channel) { return *reinterpret_cast<Channel*>(channel); }
inline bool is_datagram(const Id& id) { return id.visible.qp_type == IBV_QPT_UD; }

// -1 with errno, 0 for 0: what every function of rdma_cma.h returns.
int fail(int error);
cm::Time now();

// devices.cc
int open_devices(Library& l);  // 0 or errno
std::vector<LocalAddress> local_addresses(Library& l, Device* only = nullptr);
int prepare(Device& device);  // opens queue pair 1 and the default protection domain

// events.cc
std::unique_ptr<QueuedEvent> make_event(Id& id, rdma_cm_event_type type, int status = 0);
void queue(std::unique_ptr<QueuedEvent> event);
int complete(rdma_cm_id* id);  // a synchronous id waits for its event; not with the lock held

// links.cc
std::shared_ptr<Link> make_link(Library& l, const LocalAddress& local, const cm::Gid& remote);
// Sends, tells and schedules what the connection wants.
void advance(Library& l, const std::shared_ptr<Link>& link);
void on_mad(void* device, const gdr_gsi_mad* mad);
void on_process_ended(void* device, const std::uint8_t* address, std::uint32_t id_prefix);
// The program ends: says so to the other sides, as the kernel does when it closes its files.
void abandon_all(Library& l);

// timers.cc
void schedule(Library& l, Link& link);

// addresses.cc
bool is_any(const sockaddr* address);
bool is_loopback(const sockaddr* address);
bool is_multicast(const sockaddr* address);
socklen_t length_of(const sockaddr* address);
cm::Gid gid_of(const sockaddr* address);
std::uint16_t port_of(const sockaddr* address);
void set_port(sockaddr* address, std::uint16_t port);
sockaddr_storage address_of(const cm::Gid& gid, std::uint16_t port);

// bind.cc
int bind_id(Library& l, Id& id, const sockaddr* address);
void attach_device(Id& id, const LocalAddress& local);
void release_port(Library& l, Id& id);

// queue_pair.cc
int to_ready_to_receive(Id& id, std::uint8_t resources);
int to_ready_to_send(Id& id, std::uint8_t depth);
void to_error(Id& id);
bool create_receive_queue(rdma_cm_id* id, std::uint32_t size);  // false with errno
void destroy_queues(rdma_cm_id* id);
ibv_xrcd* default_domain(Id& id);  // null with errno; takes the lock

}  // namespace gdr::rdmacm
