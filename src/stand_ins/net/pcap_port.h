// PcapPort: a port that writes every packet that leaves or arrives to a file that Wireshark opens.
//
//   Result<std::unique_ptr<PcapFile>> file = PcapFile::open("/tmp/run.pcap");
//   auto port = std::make_unique<PcapPort>(std::move(udp_port), *std::move(file));
//
// Several processes may be given the same file: each packet is appended whole, or none any more:
// the first that does not fit, on a full disk for example, is the end of this process's part. The
// format is pcap's, link type "raw IP"; IP and UDP headers are made up as the kernel makes them,
// with the identification that the packet's ICRC was made for.
#pragma once

#include <sys/uio.h>

#include <atomic>
#include <memory>
#include <mutex>
#include <span>
#include <string>

#include "base/result.h"
#include "base/unique_fd.h"
#include "net/port.h"

namespace gdr::net {

class PcapFile {
 public:
  // Appends to a capture that is there; EINVAL: the file is something else.
  static Result<std::unique_ptr<PcapFile>> open(const std::string& path);
  // Who is told, with the errno, when a file takes no more. Null: nobody. For all files.
  static void when_full(void (*told)(int error));

  // A packet with its ICRC; `guess` as in identification.h.
  void write(const wire::Flow& flow, std::span<const std::byte> packet, std::uint16_t guess);
  // Packets of that size behind one another; the last may be shorter.
  void write_all(const wire::Flow& flow, std::span<const std::byte> packets,
                 std::size_t packet_bytes);

 private:
  explicit PcapFile(UniqueFd file);
  ssize_t append(std::span<const iovec> parts, std::size_t bytes);
  void end(off_t half, int error);

  UniqueFd file_;
  std::uint64_t limit_;  // RLIMIT_FSIZE, which would end the program by a signal
  std::mutex mutex_;     // the file's offset is where the last packet ends
  std::atomic<bool> is_full_ = false;
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
