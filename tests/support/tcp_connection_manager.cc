// A connection manager for tests: the functions of <rdma/rdma_cma.h> that rsockets use, over a TCP
// connection on the loopback in place of MADs, between the queue pairs of the software NIC. It
// stands in for librdmacm, so that rsockets are tested without it. A side that dies is seen as the
// end of its TCP connection.
#include <arpa/inet.h>
#include <fcntl.h>
#include <infiniband/verbs.h>
#include <rdma/rdma_cma.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <sys/socket.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <deque>
#include <mutex>

#include "queue_pair_steps.h"

namespace {

struct Hello {  // both ways
  std::uint32_t number = 0;
  ibv_gid gid{};
  std::uint32_t accepted = 0;
  std::uint8_t private_data[196]{};
};

struct Event {
  rdma_cm_event event{};
  Hello hello;
};

struct Channel {
  rdma_event_channel channel{};  // first: it is what callers hold
  int wake = -1;
  std::mutex mutex;
  std::deque<Event*> events;
};

enum class Step { kNew, kListening, kAwaitsAnswer, kAwaitsReady, kEstablished, kOver };

struct Id {
  rdma_cm_id id{};  // first
  int tcp = -1;
  Step step = Step::kNew;
  Hello hello;  // the peer's
};

Channel* channel_of(Id* id) { return reinterpret_cast<Channel*>(id->id.channel); }
Id* whole(rdma_cm_id* id) { return reinterpret_cast<Id*>(id); }

int failed(int error) {
  errno = error;
  return -1;
}

ibv_context* device() {
  static ibv_context* const opened = [] {
    int count = 0;
    ibv_device** list = ibv_get_device_list(&count);
    return count > 0 ? ibv_open_device(list[0]) : nullptr;
  }();
  return opened;
}

ibv_pd* domain() {
  static ibv_pd* const allocated = ibv_alloc_pd(device());
  return allocated;
}

void report(Channel* channel, Id* id, rdma_cm_event_type type, int status = 0) {
  auto* event = new Event;
  event->event.id = &id->id;
  event->event.event = type;
  event->event.status = status;
  event->hello = id->hello;
  event->event.param.conn.private_data = event->hello.private_data;
  event->event.param.conn.private_data_len = sizeof event->hello.private_data;
  const std::lock_guard lock(channel->mutex);
  channel->events.push_back(event);
  eventfd_write(channel->wake, 1);
}

void watch(Channel* channel, Id* id) {
  epoll_event what{};
  what.events = EPOLLIN;
  what.data.ptr = id;
  epoll_ctl(channel->channel.fd, EPOLL_CTL_ADD, id->tcp, &what);
}

void unwatch(Id* id) { epoll_ctl(id->id.channel->fd, EPOLL_CTL_DEL, id->tcp, nullptr); }

int tcp_socket(Id* id, sa_family_t family) {
  if (id->tcp >= 0) return id->tcp;
  id->tcp = socket(family, SOCK_STREAM | SOCK_CLOEXEC, 0);
  return id->tcp;
}

socklen_t length_of(const sockaddr* address) {
  return address->sa_family == AF_INET6 ? sizeof(sockaddr_in6) : sizeof(sockaddr_in);
}

void note_names(Id* id) {
  socklen_t length = sizeof id->id.route.addr.src_storage;
  getsockname(id->tcp, &id->id.route.addr.src_addr, &length);
  length = sizeof id->id.route.addr.dst_storage;
  getpeername(id->tcp, &id->id.route.addr.dst_addr, &length);
}

bool say(Id* id, bool accepted, const rdma_conn_param* param) {
  Hello hello;
  hello.accepted = accepted ? 1 : 0;
  if (id->id.qp != nullptr) hello.number = id->id.qp->qp_num;
  ibv_query_gid(device(), 1, 0, &hello.gid);
  if (param != nullptr && param->private_data != nullptr) {
    std::memcpy(hello.private_data, param->private_data, param->private_data_len);
  }
  return send(id->tcp, &hello, sizeof hello, MSG_NOSIGNAL) == sizeof hello;
}

bool hear(Id* id) {
  return recv(id->tcp, &id->hello, sizeof id->hello, MSG_WAITALL) == sizeof id->hello;
}

bool make_ready(Id* id) {
  const ibv_qp_attr attr = gdr::test::attributes_towards(id->hello.number, id->hello.gid);
  return gdr::test::step(id->id.qp, attr, IBV_QPS_RTR) == 0 &&
         gdr::test::step(id->id.qp, attr, IBV_QPS_RTS) == 0;
}

void take_request(Channel* channel, Id* listener) {
  const int tcp = accept4(listener->tcp, nullptr, nullptr, SOCK_CLOEXEC);
  if (tcp < 0) return;
  auto* id = new Id;
  id->tcp = tcp;
  id->id.verbs = device();
  id->id.channel = &channel->channel;
  id->id.ps = RDMA_PS_TCP;
  note_names(id);
  if (!hear(id)) {
    close(tcp);
    delete id;
    return;
  }
  report(channel, id, RDMA_CM_EVENT_CONNECT_REQUEST);
}

void take_input(Channel* channel, Id* id) {
  if (id->step == Step::kListening) return take_request(channel, id);
  if (id->step == Step::kAwaitsAnswer) {
    if (!hear(id) || id->hello.accepted == 0 || !make_ready(id)) {
      unwatch(id);
      id->step = Step::kOver;
      return report(channel, id, RDMA_CM_EVENT_REJECTED, 28);
    }
    id->step = Step::kEstablished;
    send(id->tcp, "", 1, MSG_NOSIGNAL);
    return report(channel, id, RDMA_CM_EVENT_ESTABLISHED);
  }
  char ready = 0;
  const bool came = recv(id->tcp, &ready, 1, 0) == 1;
  if (came && id->step == Step::kAwaitsReady) {
    id->step = Step::kEstablished;
    return report(channel, id, RDMA_CM_EVENT_ESTABLISHED);
  }
  if (came) return;
  unwatch(id);
  id->step = Step::kOver;
  report(channel, id, RDMA_CM_EVENT_DISCONNECTED);
}

}  // namespace

extern "C" {

#pragma GCC visibility push(default)

rdma_event_channel* rdma_create_event_channel() {
  auto* channel = new Channel;
  channel->channel.fd = epoll_create1(EPOLL_CLOEXEC);
  channel->wake = eventfd(0, EFD_NONBLOCK | EFD_CLOEXEC);
  epoll_event what{};
  what.events = EPOLLIN;
  epoll_ctl(channel->channel.fd, EPOLL_CTL_ADD, channel->wake, &what);
  return &channel->channel;
}

void rdma_destroy_event_channel(rdma_event_channel* raw) {
  auto* channel = reinterpret_cast<Channel*>(raw);
  close(channel->wake);
  close(channel->channel.fd);
  for (Event* event : channel->events) delete event;
  delete channel;
}

int rdma_create_id(rdma_event_channel* channel, rdma_cm_id** made, void* context,
                   rdma_port_space ps) {
  if (device() == nullptr) return failed(ENODEV);
  auto* id = new Id;
  id->id.channel = channel;
  id->id.context = context;
  id->id.ps = ps;
  *made = &id->id;
  return 0;
}

int rdma_destroy_id(rdma_cm_id* raw) {
  Id* id = whole(raw);
  if (id->tcp >= 0) close(id->tcp);
  delete id;
  return 0;
}

int rdma_bind_addr(rdma_cm_id* raw, sockaddr* address) {
  Id* id = whole(raw);
  const int tcp = tcp_socket(id, address->sa_family);
  const int on = 1;
  setsockopt(tcp, SOL_SOCKET, SO_REUSEADDR, &on, sizeof on);
  if (bind(tcp, address, length_of(address)) != 0) return -1;
  raw->verbs = device();
  note_names(id);
  return 0;
}

int rdma_listen(rdma_cm_id* raw, int backlog) {
  Id* id = whole(raw);
  if (listen(id->tcp, backlog) != 0) return -1;
  id->step = Step::kListening;
  watch(channel_of(id), id);
  return 0;
}

int rdma_resolve_addr(rdma_cm_id* raw, sockaddr*, sockaddr* to, int) {
  std::memcpy(&raw->route.addr.dst_storage, to, length_of(to));
  raw->verbs = device();
  report(channel_of(whole(raw)), whole(raw), RDMA_CM_EVENT_ADDR_RESOLVED);
  return 0;
}

int rdma_resolve_route(rdma_cm_id* raw, int) {
  report(channel_of(whole(raw)), whole(raw), RDMA_CM_EVENT_ROUTE_RESOLVED);
  return 0;
}

int rdma_create_qp(rdma_cm_id* raw, ibv_pd*, ibv_qp_init_attr* attributes) {
  raw->qp = ibv_create_qp(domain(), attributes);
  if (raw->qp == nullptr) return -1;
  return gdr::test::step(raw->qp, gdr::test::attributes_towards(0, {}), IBV_QPS_INIT) == 0
             ? 0
             : failed(EINVAL);
}

void rdma_destroy_qp(rdma_cm_id* raw) {
  if (raw->qp != nullptr) ibv_destroy_qp(raw->qp);
  raw->qp = nullptr;
}

int rdma_connect(rdma_cm_id* raw, rdma_conn_param* param) {
  Id* id = whole(raw);
  const sockaddr* to = &raw->route.addr.dst_addr;
  if (connect(tcp_socket(id, to->sa_family), to, length_of(to)) != 0) {
    if (errno != ECONNREFUSED) return -1;
    report(channel_of(id), id, RDMA_CM_EVENT_REJECTED, 8);
    return 0;
  }
  note_names(id);
  if (!say(id, true, param)) return failed(ECONNRESET);
  id->step = Step::kAwaitsAnswer;
  watch(channel_of(id), id);
  return 0;
}

int rdma_accept(rdma_cm_id* raw, rdma_conn_param* param) {
  Id* id = whole(raw);
  if (!make_ready(id)) return failed(EINVAL);
  if (!say(id, true, param)) return failed(ECONNRESET);
  id->step = Step::kAwaitsReady;
  watch(channel_of(id), id);
  return 0;
}

int rdma_reject(rdma_cm_id* raw, const void*, std::uint8_t) {
  say(whole(raw), false, nullptr);
  return 0;
}

int rdma_migrate_id(rdma_cm_id* raw, rdma_event_channel* channel) {
  raw->channel = channel;
  return 0;
}

int rdma_disconnect(rdma_cm_id* raw) {
  if (raw->qp != nullptr) {
    ibv_qp_attr attr{};
    attr.qp_state = IBV_QPS_ERR;
    ibv_modify_qp(raw->qp, &attr, IBV_QP_STATE);
  }
  shutdown(whole(raw)->tcp, SHUT_RDWR);
  return 0;
}

int rdma_set_option(rdma_cm_id*, int, int, void*, std::size_t) { return 0; }

int rdma_get_cm_event(rdma_event_channel* raw, rdma_cm_event** event) {
  auto* channel = reinterpret_cast<Channel*>(raw);
  const bool wait = (fcntl(raw->fd, F_GETFL) & O_NONBLOCK) == 0;
  for (;;) {
    {
      const std::lock_guard lock(channel->mutex);
      if (!channel->events.empty()) {
        *event = &channel->events.front()->event;
        channel->events.pop_front();
        eventfd_t seen = 0;
        if (channel->events.empty()) eventfd_read(channel->wake, &seen);
        return 0;
      }
    }
    epoll_event what{};
    const int count = epoll_wait(raw->fd, &what, 1, wait ? -1 : 0);
    if (count < 0) return -1;
    if (count == 0) return failed(EAGAIN);
    if (what.data.ptr != nullptr) take_input(channel, static_cast<Id*>(what.data.ptr));
  }
}

int rdma_ack_cm_event(rdma_cm_event* event) {
  delete reinterpret_cast<Event*>(event);
  return 0;
}

#pragma GCC visibility pop

}  // extern "C"
