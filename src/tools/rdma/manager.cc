#include "rdma/manager.h"

#include <arpa/inet.h>
#include <netinet/in.h>
#include <poll.h>

#include <algorithm>
#include <cstring>

namespace gdr::rdma {
namespace {

constexpr int kResolve = 2000;                     // ms
constexpr Nanoseconds kLook = 100 * kMillisecond;  // between two questions whether to go on

int all_rights(const States& states) {
  const int rights = IBV_ACCESS_LOCAL_WRITE | IBV_ACCESS_REMOTE_WRITE | IBV_ACCESS_REMOTE_READ;
  return states.atomics ? rights | IBV_ACCESS_REMOTE_ATOMIC : rights;
}

Error failed(const char* call) { return verbs_error(call, errno ? errno : EIO); }

// Rights of a queue pair that is being accepted. With iWARP the connection is TCP's, and the kernel
// changes the queue pair.
int rights_at_first(const Device& device, const States& states) {
  const bool iwarp = device.context()->device->transport_type == IBV_TRANSPORT_IWARP;
  return iwarp ? all_rights(states) : IBV_ACCESS_LOCAL_WRITE;
}

// What a RoCE v2 GID is: an IP address.
union Address {
  sockaddr any;
  sockaddr_in four;
  sockaddr_in6 six;
};

Result<Address> address_of(const ibv_gid& gid, std::uint16_t port) {
  Address address{};
  in6_addr six;
  std::memcpy(&six, gid.raw, sizeof six);
  if (IN6_IS_ADDR_V4MAPPED(&six)) {
    address.four.sin_family = AF_INET;
    address.four.sin_port = htons(port);
    std::memcpy(&address.four.sin_addr, gid.raw + 12, sizeof address.four.sin_addr);
    return address;
  }
  if (IN6_IS_ADDR_LINKLOCAL(&six)) {
    char text[INET6_ADDRSTRLEN] = "";
    inet_ntop(AF_INET6, gid.raw, text, sizeof text);
    return Error{EINVAL,
                 std::string("the GID ") + text +
                     " is link-local, so rdma_cm cannot connect to it; choose another GID with "
                     "--gid-index"};
  }
  address.six.sin6_family = AF_INET6;
  address.six.sin6_port = htons(port);
  address.six.sin6_addr = six;
  return address;
}

}  // namespace

// Acknowledged when it goes, as each has to be before its connection may.
struct Manager::Event {
  std::unique_ptr<rdma_cm_event, int (*)(rdma_cm_event*)> event;
  rdma_cm_event* operator->() const { return event.get(); }
};

Result<Manager> Manager::open() {
  Result<const ManagerLibrary*> library = ManagerLibrary::load();
  if (!library) return library.error();
  Manager manager(**library);
  errno = 0;
  manager.channel_.reset((*library)->create_event_channel());
  if (manager.channel_) return manager;
  const Error why = failed("rdma_create_event_channel");
  return Error{ENODEV, "no connection manager: " + why.message +
                           "; for a kernel NIC: sudo modprobe rdma_ucm"};
}

Result<Manager::Id> Manager::make_id() {
  rdma_cm_id* made = nullptr;
  errno = 0;
  if (library_->create_id(channel_.get(), &made, nullptr, RDMA_PS_TCP) != 0) {
    return failed("rdma_create_id");
  }
  return Id(made, library_->destroy_id);
}

Result<Manager::Event> Manager::next(const Work& work) {
  for (;;) {
    if (work.go_on && !work.go_on()) return Error{EINTR, "interrupted"};
    const Nanoseconds time = now();
    if (time >= work.deadline) {
      return Error{EHOSTUNREACH, "rdma_cm: no connection in the given time"};
    }
    const Nanoseconds left = std::min(work.deadline - time, kLook);
    pollfd entry{channel_->fd, POLLIN, 0};
    if (poll(&entry, 1, static_cast<int>(left / kMillisecond) + 1) > 0) break;
  }
  rdma_cm_event* event = nullptr;
  errno = 0;
  if (library_->get_cm_event(channel_.get(), &event) != 0) return failed("rdma_get_cm_event");
  return Event{{event, library_->ack_cm_event}};
}

Result<Manager::Event> Manager::next(rdma_cm_event_type wanted, const Work& work) {
  Result<Event> event = next(work);
  if (!event || (*event)->event == wanted) return event;
  return Error{EIO, std::string("rdma_cm: ") + library_->event_str((*event)->event) + " (status " +
                        std::to_string((*event)->status) + ") where " +
                        library_->event_str(wanted) + " was expected"};
}

// What the manager knows of the path, and what it does not of the queue pair: the rights that the
// other side has, and a packet size that nobody wants exceeded.
Result<void> Manager::modify(rdma_cm_id* id, ibv_qp* pair, ibv_qp_state state, int access,
                             const Work& work) {
  constexpr std::uint8_t kMinimumRnrTimer = 12;  // 0.64 ms, as in states.cc
  ibv_qp_attr attributes{};
  attributes.qp_state = state;
  int mask = 0;
  errno = 0;
  if (library_->init_qp_attr(id, &attributes, &mask) != 0) return failed("rdma_init_qp_attr");
  if ((mask & IBV_QP_ACCESS_FLAGS) != 0) {
    attributes.qp_access_flags = static_cast<unsigned>(access);
  }
  if ((mask & IBV_QP_PATH_MTU) != 0) {
    attributes.path_mtu = std::min(attributes.path_mtu, work.states.mtu);
  }
  if ((mask & IBV_QP_MIN_RNR_TIMER) != 0) attributes.min_rnr_timer = kMinimumRnrTimer;
  if (int code = work.device.library().modify_qp(pair, &attributes, mask)) {
    return verbs_error("ibv_modify_qp (by rdma_cm)", code > 0 ? code : errno);
  }
  return {};
}

Result<void> Manager::give_rights(ibv_qp* pair, const Work& work) {
  ibv_qp_attr attributes{};
  attributes.qp_access_flags = static_cast<unsigned>(all_rights(work.states));
  if (int code = work.device.library().modify_qp(pair, &attributes, IBV_QP_ACCESS_FLAGS)) {
    return verbs_error("ibv_modify_qp (rights)", code > 0 ? code : errno);
  }
  return {};
}

rdma_conn_param Manager::parameters(std::uint32_t number, const Work& work) const {
  rdma_conn_param parameters{};
  parameters.responder_resources = parameters.initiator_depth = work.states.reads;
  parameters.retry_count = 7;
  parameters.rnr_retry_count = 7;  // without end
  parameters.qp_num = number;
  return parameters;
}

Result<std::uint16_t> Manager::listen(const ibv_gid& gid) {
  Result<Address> address = address_of(gid, 0);
  if (!address) return address.error();
  Result<Id> id = make_id();
  if (!id) return id.error();
  errno = 0;
  if (library_->bind_addr(id->get(), &address->any) != 0) return failed("rdma_bind_addr");
  if (library_->listen(id->get(), 16) != 0) return failed("rdma_listen");
  const std::uint16_t port = ntohs(library_->get_src_port(id->get()));
  ids_.push_back(*std::move(id));
  return port;
}

Result<void> Manager::accept_one(const Work& work, Event& request, std::vector<bool>& taken) {
  Id id(request->id, library_->destroy_id);
  std::uint32_t index = ~0u;
  const rdma_conn_param& asked = request->param.conn;
  if (asked.private_data != nullptr && asked.private_data_len >= sizeof index) {
    std::memcpy(&index, asked.private_data, sizeof index);
    index = ntohl(index);
  }
  if (index >= work.pairs.size() || taken[index]) {
    (void)library_->reject(id.get(), nullptr, 0);
    return {};
  }
  ibv_qp* pair = work.pairs[index];
  for (const ibv_qp_state state : {IBV_QPS_INIT, IBV_QPS_RTR, IBV_QPS_RTS}) {
    Result<void> done =
        modify(id.get(), pair, state, rights_at_first(work.device, work.states), work);
    if (!done) return done;
  }
  rdma_conn_param answer = parameters(pair->qp_num, work);
  errno = 0;
  if (library_->accept(id.get(), &answer) != 0) return failed("rdma_accept");
  taken[index] = true;
  ids_.push_back(std::move(id));
  return {};
}

Result<void> Manager::accept(const Device& device, std::span<ibv_qp* const> pairs,
                             const States& states, Nanoseconds timeout,
                             std::function<bool()> go_on) {
  const Work work{device, pairs, states, now() + timeout, std::move(go_on)};
  std::vector<bool> taken(pairs.size());
  for (std::size_t established = 0; established < pairs.size();) {
    Result<Event> event = next(work);
    if (!event) return event.error();
    if ((*event)->event == RDMA_CM_EVENT_CONNECT_REQUEST) {
      if (Result<void> done = accept_one(work, *event, taken); !done) return done;
    } else if ((*event)->event == RDMA_CM_EVENT_ESTABLISHED) {
      ++established;
    } else {
      return Error{EIO, std::string("rdma_cm: ") + library_->event_str((*event)->event) +
                            " (status " + std::to_string((*event)->status) + ")"};
    }
  }
  if (rights_at_first(device, states) == all_rights(states)) return {};
  for (ibv_qp* pair : pairs) {
    if (Result<void> given = give_rights(pair, work); !given) return given;
  }
  return {};
}

Result<void> Manager::connect_one(const Work& work, std::uint32_t index, sockaddr* from,
                                  sockaddr* to) {
  Result<Id> made = make_id();
  if (!made) return made.error();
  rdma_cm_id* id = made->get();
  ids_.push_back(*std::move(made));
  std::uint8_t service = work.states.traffic_class;
  errno = 0;
  if (service != 0 &&
      library_->set_option(id, RDMA_OPTION_ID, RDMA_OPTION_ID_TOS, &service, 1) != 0) {
    return failed("rdma_set_option");
  }
  if (library_->resolve_addr(id, from, to, kResolve) != 0) return failed("rdma_resolve_addr");
  if (auto event = next(RDMA_CM_EVENT_ADDR_RESOLVED, work); !event) return event.error();
  if (library_->resolve_route(id, kResolve) != 0) return failed("rdma_resolve_route");
  if (auto event = next(RDMA_CM_EVENT_ROUTE_RESOLVED, work); !event) return event.error();
  ibv_qp* pair = work.pairs[index];
  const int rights = all_rights(work.states);
  if (Result<void> done = modify(id, pair, IBV_QPS_INIT, rights, work); !done) return done;
  const std::uint32_t tag = htonl(index);
  rdma_conn_param asked = parameters(pair->qp_num, work);
  asked.private_data = &tag;
  asked.private_data_len = sizeof tag;
  if (library_->connect(id, &asked) != 0) return failed("rdma_connect");
  Result<Event> answer = next(work);
  if (!answer) return answer.error();
  // With iWARP the kernel changes the queue pair's states itself.
  if ((*answer)->event == RDMA_CM_EVENT_ESTABLISHED) return {};
  if ((*answer)->event != RDMA_CM_EVENT_CONNECT_RESPONSE) {
    return Error{ECONNREFUSED, std::string("rdma_cm: ") + library_->event_str((*answer)->event) +
                                   " (status " + std::to_string((*answer)->status) + ")"};
  }
  for (const ibv_qp_state state : {IBV_QPS_RTR, IBV_QPS_RTS}) {
    if (Result<void> done = modify(id, pair, state, rights, work); !done) return done;
  }
  if (library_->establish(id) != 0) return failed("rdma_establish");
  return {};
}

Result<void> Manager::connect(const Device& device, const ibv_gid& from, const ibv_gid& to,
                              std::uint16_t port, std::span<ibv_qp* const> pairs,
                              const States& states, Nanoseconds timeout,
                              std::function<bool()> go_on) {
  Result<Address> here = address_of(from, 0);
  if (!here) return here.error();
  Result<Address> there = address_of(to, port);
  if (!there) return there.error();
  const Work work{device, pairs, states, now() + timeout, std::move(go_on)};
  for (std::uint32_t i = 0; i < pairs.size(); ++i) {
    if (Result<void> done = connect_one(work, i, &here->any, &there->any); !done) return done;
  }
  return {};
}

}  // namespace gdr::rdma
