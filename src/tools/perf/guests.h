// Guests: the clients of a server, each with a thread of its own.
//
//   Guests guests([&](UniqueFd client, const std::string& name) { talk(std::move(client), name); },
//                 interrupted);
//   guests.serve(listening);   // until interrupted
#pragma once

#include <atomic>
#include <functional>
#include <list>
#include <string>
#include <thread>

#include "perf/listen.h"

namespace gdr::perf {

class Guests {
 public:
  // Talks with one client until it goes; called in that client's thread. `name`: its address.
  using Entertain = std::function<void(UniqueFd, const std::string& name)>;

  Guests(Entertain entertain, const std::atomic<bool>& interrupted)
      : entertain_(std::move(entertain)), interrupted_(interrupted) {}
  // Waits for them: who interrupts has `entertain` return.
  ~Guests();

  void serve(const Listening& listening);

 private:
  struct Guest {
    std::thread thread;
    std::atomic<bool> has_gone{false};
  };
  Result<void> receive(const Listening& listening);
  void see_out();

  const Entertain entertain_;
  const std::atomic<bool>& interrupted_;
  std::list<Guest> guests_;
};

}  // namespace gdr::perf
