// The objects of librdmacm.so.1 and the one lock that guards all of them.
//
// Threads: the program's, libibverbs' callback for arrivals (arrivals.cc) and one thread for
// deadlines (timers.cc). Each takes Library::lock for as long as it reads or changes anything here;
// nobody waits for another thread with it held, but rdma_listen for processes that have just begun.
// Queue pairs are changed on the program's threads only, while it takes an event or calls.
//
// A program may call with an id that it has destroyed, or whose channel it has closed: what it
// gives is looked up in Library::ids before it is looked into (enter()).
#pragma once

#include <rdma/rdma_cma.h>

#include <condition_variable>
#include <cstdint>
#include <cstdlib>
#include <functional>
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
#include "rdmacm/event_queue.h"

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
  bool is_half_open = false;  // it counts in Library::half_open
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
  std::uint64_t turn = 0;  // EventQueue's
};

struct Channel {
  rdma_event_channel visible{};  // first
  EventQueue events;
};
// No id is on it.
void free_channel(rdma_event_channel* channel);

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
  Id() = default;
  ~Id() { free(visible.route.path_rec); }
  Id(const Id&) = delete;
  Id& operator=(const Id&) = delete;

  rdma_cm_id visible{};  // first; its channel is null once the program has destroyed that
  Phase phase = Phase::kIdle;
  bool synchronous = false;
  bool reuse_address = false;
  std::optional<bool> family_only_option;
  bool family_only = false;  // since it was bound
  std::uint8_t traffic_class = 0;
  std::optional<std::uint8_t> ack_timeout;
  std::optional<LocalAddress> local;
  cm::Gid remote_gid{};
  std::uint16_t port = 0;          // bound, host order
  int backlog = 0;                 // how many more requests may wait for the program
  std::map<cm::Gid, int> waiting;  // how many do, by source
  bool shares_backlog = false;     // among sources: base/fair_share.h
  bool accepted =
      true;  // a request's: until then the program hears no more of it (as of the kernel)
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
  std::map<cm::Gid, std::uint32_t> half_open;  // of each peer that asked and did not confirm yet
  std::size_t half_open_together = 0;
  std::set<std::pair<cm::Time, std::uint32_t>> deadlines;
  std::map<std::uint64_t, cm::Time> left;  // service ids that were listened for, and until when
  std::set<const QueuedEvent*> taken;      // by the program, which has to acknowledge them
};

Library& library();
// Once a device is open, under the lock: what is registered last is called first, and this lock is
// taken before those of libibverbs.
void get_ready_for_forks();
using Guard = std::unique_lock<std::mutex>;

inline Id& of(rdma_cm_id* id) { return *reinterpret_cast<Id*>(id); }
inline Channel& of(rdma_event_channel* channel) { return *reinterpret_cast<Channel*>(channel); }
inline bool is_datagram(const Id& id) { return id.visible.qp_type == IBV_QPT_UD; }

// -1 with errno, 0 for 0: what every function of rdma_cma.h returns.
int fail(int error);
// With the lock held. EINVAL: no id of this process, or null; EBADF: its channel is gone.
int enter(Library& l, const rdma_cm_id* id);
bool is_id(const rdma_cm_id* id);  // takes the lock
cm::Time now();

// devices.cc
int open_devices(Library& l);  // 0 or errno
std::vector<LocalAddress> local_addresses(Library& l, Device* only = nullptr);
// What serves an address of this host that no device has; null: nothing does.
const LocalAddress* serving_interface(const std::vector<LocalAddress>& all,
                                      const sockaddr* address);
int prepare(Device& device);  // opens queue pair 1 and the default protection domain

// events.cc
std::unique_ptr<QueuedEvent> make_event(Id& id, rdma_cm_event_type type, int status = 0);
void queue(std::unique_ptr<QueuedEvent> event);
// What its file descriptor counts goes with them.
void erase_events(rdma_event_channel* channel,
                  const std::function<bool(std::unique_ptr<QueuedEvent>&)>& is_erased);
// A request no longer waits for the program.
void make_room(const QueuedEvent& request);
int complete(rdma_cm_id* id);  // a synchronous id waits for its event; not with the lock held

// listen.cc
void stop_listening(Library& l, Id& id);
// A moment ago somebody listened for it in this process.
bool was_left(Library& l, std::uint64_t service_id);

// id.cc
// Ends what it does on the network, as politely as it can.
void retire(Library& l, Id& id);
// A request of which the program has not heard is rejected, and its id is gone.
void drop_request(Library& l, QueuedEvent& request);

// links.cc
std::shared_ptr<Link> make_link(Library& l, const LocalAddress& local, const cm::Gid& remote);
// A peer has asked for it, and is not known to be real before it has confirmed the answer.
void note_half_open(Library& l, Link& link);
// Sends, tells and schedules what the connection wants.
void advance(Library& l, const std::shared_ptr<Link>& link);
void on_mad(void* device, const gdr_gsi_mad* mad);
void on_process_ended(void* device, const std::uint8_t* address, std::uint32_t id_prefix);
// The program ends: says so to the other sides, as the kernel does when it closes its files.
void abandon_all(Library& l);

void transmit(const LocalAddress& local, const cm::Gid& to, const cm::Mad& bytes, int* error);
// To where it came from, outside of any connection.
void answer(Device& device, const gdr_gsi_mad& mad, const cm::Message& message);
void set_private_data(QueuedEvent& event, const cm::Message& message, std::size_t skip);
void set_datagram(QueuedEvent& event, const Link& link, const cm::Message& message);

// requests.cc
void on_request(Library& l, Device& device, const gdr_gsi_mad& mad, const cm::Message& message);

// timers.cc
void schedule(Library& l, Link& link);

// addresses.cc
bool is_any(const sockaddr* address);
bool is_loopback(const sockaddr* address);
bool is_multicast(const sockaddr* address);
bool is_link_local(const sockaddr* address);
bool is_link_local(const cm::Gid& gid);
std::uint32_t scope_of(const sockaddr* address);  // IPv6
void set_scope(sockaddr* address, std::uint32_t scope);
bool is_own(const sockaddr* address);  // an address of this host
socklen_t length_of(const sockaddr* address);
cm::Gid gid_of(const sockaddr* address);
std::uint16_t port_of(const sockaddr* address);
void set_port(sockaddr* address, std::uint16_t port);
sockaddr_storage address_of(const cm::Gid& gid, std::uint16_t port);

// bind.cc
int bind_id(Library& l, Id& id, const sockaddr* address);
// 0, EADDRNOTAVAIL or EADDRINUSE: whether others of this process leave it the port.
int check_port(Library& l, const Id& id, std::uint16_t port, bool reuse);
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
