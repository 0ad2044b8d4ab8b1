// Manager: RC queue pairs connected by the kernel's connection manager (rdma_cm), by IP address and
// port, instead of by what two programs tell each other. The queue pairs stay the caller's own: the
// manager is told their numbers, and says what each state takes.
//
//   Result<Manager> manager = Manager::open();
//   Result<std::uint16_t> port = manager->listen(my_gid);                     // one side
//   Result<void> done = manager->accept(pairs, timeout);
//   Result<void> done = manager->connect(my_gid, their_gid, port, pairs, timeout);   // the other
//   one
//
// The connections end with it.
#pragma once

#include <infiniband/verbs.h>

#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "base/clock.h"
#include "base/result.h"
#include "rdma/manager_library.h"
#include "rdma/states.h"

namespace gdr::rdma {

class Manager {
 public:
  // ENODEV: the kernel has none.
  static Result<Manager> open();

  // At the IP address that a RoCE v2 GID is: the port that it was given.
  Result<std::uint16_t> listen(const ibv_gid& address);
  // As many connections as there are pairs: each says which one it is for. The other side has no
  // rights before all of them are established: until then nothing shows that it is where it says.
  // `go_on`: asked now and then while it waits.
  Result<void> accept(const Device& device, std::span<ibv_qp* const> pairs, const States& states,
                      Nanoseconds timeout, std::function<bool()> go_on = {});
  Result<void> connect(const Device& device, const ibv_gid& from, const ibv_gid& to,
                       std::uint16_t port, std::span<ibv_qp* const> pairs, const States& states,
                       Nanoseconds timeout, std::function<bool()> go_on = {});

 private:
  struct Event;
  struct Work {
    const Device& device;
    std::span<ibv_qp* const> pairs;
    const States& states;
    Nanoseconds deadline;
    std::function<bool()> go_on;
  };
  using Channel = std::unique_ptr<rdma_event_channel, void (*)(rdma_event_channel*)>;
  using Id = std::unique_ptr<rdma_cm_id, int (*)(rdma_cm_id*)>;

  explicit Manager(const ManagerLibrary& library)
      : library_(&library), channel_(nullptr, library.destroy_event_channel) {}
  Result<Id> make_id();
  // The next one, which is to be `wanted`.
  Result<Event> next(rdma_cm_event_type wanted, const Work& work);
  Result<Event> next(const Work& work);
  // `access`: rights of the other side.
  Result<void> modify(rdma_cm_id* id, ibv_qp* pair, ibv_qp_state state, int access,
                      const Work& work);
  rdma_conn_param parameters(std::uint32_t number, const Work& work) const;
  static Result<void> give_rights(ibv_qp* pair, const Work& work);
  Result<void> connect_one(const Work& work, std::uint32_t index, sockaddr* from, sockaddr* to);
  Result<void> accept_one(const Work& work, Event& request, std::vector<bool>& taken);

  const ManagerLibrary* library_;
  Channel channel_;
  std::vector<Id> ids_;  // the listening one first, if there is one
};

}  // namespace gdr::rdma
