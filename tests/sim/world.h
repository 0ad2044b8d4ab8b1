// World: hosts, links between them and a clock that jumps to whatever happens next. Every packet is
// written to bytes and read back, so that the wire format takes part.
#pragma once

#include <functional>
#include <memory>
#include <vector>

#include "engine/connection.h"
#include "link.h"

namespace gdr::sim {

// An owner with its connection.
class Host : public engine::Owner {
 public:
  virtual std::unique_ptr<engine::Connection>& connection() { return connection_; }
  // The payload of a packet. False: its memory is gone.
  virtual bool fill(const engine::Transmit& transmit, std::span<std::byte> to) = 0;
  // Something that the program above does at a time of its own.
  virtual Nanoseconds next_event() const { return engine::kNever; }
  virtual void happen(Nanoseconds) {}

 private:
  std::unique_ptr<engine::Connection> connection_;
};

class World {
 public:
  std::size_t add_link(const LinkSettings& settings, std::uint64_t seed);
  // What `host` sends goes over `link` to host `to`. `socket_bytes`: it sends only while no more
  // than that waits for the link.
  std::size_t add_host(Host* host, std::size_t link, std::size_t to,
                       std::uint64_t socket_bytes = ~std::uint64_t{0});
  // Until it holds, nothing happens any more or it is `end`.
  void run(Nanoseconds end, const std::function<bool()>& done = nullptr);
  Nanoseconds now() const { return now_; }
  std::uint64_t packets() const { return packets_; }

 private:
  struct Place {
    Host* host;
    std::size_t link, to;
    std::uint64_t socket_bytes;
    Nanoseconds blocked_until;
  };

  Nanoseconds next() const;
  void arrivals();
  void pump(Place& place);
  void send(Place& place, const engine::Transmit& transmit);

  Nanoseconds now_ = kSecond;
  std::uint64_t packets_ = 0;
  std::vector<Link> links_;
  std::vector<Place> places_;
};

}  // namespace gdr::sim
