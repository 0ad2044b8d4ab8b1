// PcapPort: a port that writes every packet that leaves or arrives to a file that Wireshark opens.
//
//   Result<std::unique_ptr<PcapFile>> file = PcapFile::open("/tmp/run.pcap");
//   auto port = std::make_unique<PcapPort>(std::move(udp_port), *std::move(file));
//
// Several processes may be given the same file: each packet is appended whole. The format is
// pcap's, link type "raw IP"; IP and UDP headers are made up as the kernel makes them, with the
// identification that the packet's ICRC was made for.
#pragma once

#include <memory>
#include <string>

#include "base/result.h"
#include "base/unique_fd.h"
#include "net/port.h"

namespace gdr::net {

class PcapFile {
 public:
  // Appends to a capture that is there; EINVAL: the file is something else.
  static Result<std::unique_ptr<PcapFile>> open(const std::string& path);
  // A packet with its ICRC; `guess` as in identification.h.
  void write(const wire::Flow& flow, std::span<const std::byte> packet, std::uint16_t guess);
  // Packets of that size behind one another; the last may be shorter.
  void write_all(const wire::Flow& flow, std::span<const std::byte> packets,
                 std::size_t packet_bytes);

 private:
  explicit PcapFile(UniqueFd file) : file_(std::move(file)) {}
  UniqueFd file_;
};

class PcapPort : public Port {
 public:
  PcapPort(std::unique_ptr<Port> inner, std::shared_ptr<PcapFile> file);

  int send(const Burst& burst) override;
  bool receive(Arrival* arrival) override;
  int descriptor() const override { return inner_->descriptor(); }
  const wire::Address& address() const override { return inner_->address(); }
  Nanoseconds next_timeout() const override { return inner_->next_timeout(); }

 private:
  const std::unique_ptr<Port> inner_;
  const std::shared_ptr<PcapFile> file_;
};

}  // namespace gdr::net
