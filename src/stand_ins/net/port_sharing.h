// PortSharing: several processes of one user on UDP port 4791 of one address.
//
// The kernel keeps their sockets as a group (SO_REUSEPORT), in an order that it does not tell and
// that changes when a member leaves. A filter that all members share picks one by the process in
// the destination queue pair's number (sharing_filter.h). For that each has to know its place: a
// member sends questions that the filter delivers to place 0, 1, 2 ...; whoever gets one notes its
// place in its segment; the asker reads them and makes the filter anew. It asks when it joins, and
// when it sees strays: packets for another member, which are handed over to that one in any case,
// but may be overtaken meanwhile. So a member sends nothing before it has joined.
//
//   PortSharing sharing(adapter, device, port);
//   if (Result<void> opened = sharing.open(); !opened) return opened.error();
//   sharing.await_join();                               // run() goes on meanwhile
//   if (sharing.take_question(arrival)) return;         // of every arrival from the own address
//   sharing.hand_over(slot, arrival);                   // a stray
//   while (sharing.receive(&arrival)) take(arrival);    // what others have handed over
//
// Strays come to the process's private socket, and what it sends within the host leaves from there:
// see private_socket.h. The socket's name, which only processes of this user can read, stands in
// front of each stray and in each question.
//
// Threads: run() and open() one at a time; what says so, any; the rest under the path's receive
// lock.
#pragma once

#include <array>
#include <memory>
#include <optional>
#include <vector>

#include "base/result.h"
#include "net/private_socket.h"
#include "net/udp_port.h"
#include "rnic/adapter.h"

namespace gdr::net {

class PortSharing {
 public:
  // `address`: which of the device's.
  PortSharing(rnic::Adapter& adapter, std::uint32_t device, std::uint32_t address, UdpPort& port);
  ~PortSharing();

  Result<void> open();
  // Until the others have told their places, but no longer than a stopped one may take. Any thread.
  void await_join() const;
  int descriptor() const { return private_.descriptor(); }  // readable while a stray is there
  // Any thread: something is there that nobody has announced. The next receive() looks.
  void look() { look_.store(true, std::memory_order_relaxed); }

  // What leaves for this user's processes on this host leaves from here.
  std::uint16_t private_port() const { return private_.port(); }
  // The private port of this user's process in that slot, for its device with that address. 0: it
  // has not opened it yet. Nothing: there is no such process. Cold.
  std::optional<std::uint16_t> private_port_of(std::uint32_t slot,
                                               const wire::Address& address) const;
  // Slots of the processes on this address, this one's too. Cold.
  std::vector<std::uint32_t> slots();

  // True: it was one, and needs nothing more.
  bool take_question(const Arrival& arrival);
  // False: no such process has the address.
  bool hand_over(std::uint32_t slot, const Arrival& arrival);
  // The same for what the kernel may give to anybody: 0, ESRCH, or EAGAIN where the process has no
  // room for more. Any thread.
  int pass_on(std::uint32_t slot, const Arrival& arrival) const;
  // The private ports of this user's processes that have the address open. Any thread. Cold.
  std::vector<std::uint16_t> private_ports(const wire::Address& address) const;
  // Hot while nothing is there: one comparison.
  bool receive(Arrival* arrival);

  // The next run() tells the kernel for which service ids this process listens. Any thread.
  void listeners_changed() { listeners_changed_.store(true); }

  // Progress thread: asks, or reads the answers. When to come again.
  Nanoseconds run(Nanoseconds time);

 private:
  struct Member {
    std::uint32_t slot;
    std::uint64_t told;  // SharedPort::place: of which question, and the place after the next one
  };
  static rnic::SharedPort* port_in(rnic::Segment& segment, const wire::Address& address);
  rnic::SharedPort* open_port_in(rnic::Segment& segment) const {
    return open_port_in(segment, port_.address());
  }
  static rnic::SharedPort* open_port_in(rnic::Segment& segment, const wire::Address& address);
  bool is_of_a_member(std::uint64_t name);
  bool read_stray(std::size_t got, Arrival* arrival);
  void ask();
  void install(std::span<const Member> members);
  std::vector<Member> members();
  // All have told their place since this one asked; to whose question does not matter.
  bool have_answered(std::span<const Member> members) const;

  rnic::Adapter& adapter_;
  UdpPort& port_;
  rnic::SharedPort& own_;
  PrivateSocket private_;
  std::unique_ptr<std::byte[]> buffer_;
  std::uint32_t seen_strays_ = 0;
  std::atomic<bool> look_{false};
  std::vector<std::uint64_t> names_;  // of members, when somebody last asked
  Nanoseconds names_at_ = 0;
  std::uint32_t question_ = 0;                // 0: none is open
  std::vector<Member> before_;                // it was asked
  std::array<std::uint32_t, 64> answered_{};  // the last questions
  std::size_t answers_ = 0;
  Nanoseconds asked_at_ = 0;      // 0: not asked
  std::atomic<bool> asks_{true};  // it should
  std::atomic<bool> listeners_changed_{false};
  std::atomic<bool> has_joined_{false};
};

}  // namespace gdr::net
