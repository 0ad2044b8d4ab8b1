// What `gdr prove` asks of its two workers. A worker owns one NIC, one GPU and the memory on its
// side; it checks its own memory (the owner's view) and never decides anything. Each request names
// its reply.
//
//   Result<Open::Reply> side = client.call(Open{verbs, cuda, "soft0", 1, 0});
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <tuple>
#include <vector>

#include "participants/memory.h"
#include "participants/pattern.h"
#include "participants/registration.h"
#include "participants/survey.h"
#include "perf/load.h"
#include "process/codec.h"

namespace gdr::proof {

using participants::Damage;
using participants::Gpu;
using participants::GpuSurvey;
using participants::is_device;
using participants::Memory;
using participants::MemoryKind;
using participants::NicPort;
using participants::NicSurvey;
using participants::Registration;
using participants::RegistrationStage;
using process::Bytes;
using process::decode;
using process::encode;
using process::Failure;
using process::Nothing;

enum class QueueKind : std::uint8_t { kRc, kUd, kRaw };
enum class Operation : std::uint8_t {
  kSend,
  kSendWithImmediate,
  kWrite,
  kWriteWithImmediate,
  kRead,
  kCompareAndSwap,
  kFetchAndAdd
};
// Which devices the two libraries know.
struct Survey {
  std::string verbs, cuda;  // paths of the libraries; no path of CUDA's: nothing about GPUs
  GDR_FIELDS(verbs, cuda)
  using Reply = participants::Survey;
};

struct Open {
  std::string verbs, cuda, nic;
  std::uint8_t port = 1;
  std::int32_t gpu = 0;
  GDR_FIELDS(verbs, cuda, nic, port, gpu)
  struct Reply {
    std::uint16_t lid = 0;
    std::uint8_t gid_index = 0;
    std::array<std::uint8_t, 16> gid{};
    std::array<std::uint8_t, 6> mac{};
    bool has_mac = false;
    std::uint32_t ipv4 = 0;  // 0: the GID is none
    bool ethernet = false;
    std::uint8_t mtu = 0;  // as ibv_mtu
    bool atomics = false;
    std::uint64_t largest_message = 0;
    std::string gpu;  // PCI address of the one that the context is on
    GDR_FIELDS(lid, gid_index, gid, mac, has_mac, ipv4, ethernet, mtu, atomics, largest_message,
               gpu)
  };
};

// Memory, registered. What went wrong is in the reply: it is a result, not an error of the
// question.
struct CreateBuffer {
  MemoryKind memory = MemoryKind::kHost;
  Registration registration = Registration::kHost;
  std::uint64_t size = 0;
  GDR_FIELDS(memory, registration, size)
  struct Reply {
    RegistrationStage stage = RegistrationStage::kDone;  // the one that failed
    std::int32_t code = 0;  // errno, or CUresult for kAllocate and kExport on device memory
    std::string detail;
    std::uint32_t buffer = 0;
    std::uint64_t address = 0;
    std::uint32_t rkey = 0;
    GDR_FIELDS(stage, code, detail, buffer, address, rkey)
  };
};
struct DestroyBuffer {
  std::uint32_t buffer = 0;
  GDR_FIELDS(buffer)
  using Reply = Nothing;
};

struct CreateQueue {
  QueueKind kind = QueueKind::kRc;
  GDR_FIELDS(kind)
  struct Reply {
    std::uint32_t queue = 0;
    std::uint32_t number = 0;
    std::uint32_t packet_sequence = 0;
    GDR_FIELDS(queue, number, packet_sequence)
  };
};
struct Connect {
  std::uint32_t queue = 0;
  std::uint32_t remote_number = 0;
  std::uint32_t remote_packet_sequence = 0;
  std::uint16_t remote_lid = 0;
  std::array<std::uint8_t, 16> remote_gid{};
  std::uint8_t mtu = 0;
  GDR_FIELDS(queue, remote_number, remote_packet_sequence, remote_lid, remote_gid, mtu)
  using Reply = Nothing;
};
struct DestroyQueue {
  std::uint32_t queue = 0;
  GDR_FIELDS(queue)
  using Reply = Nothing;
};
// Frames for this Ethernet address, IPv4 address and UDP port go to the raw queue pair.
struct Steer {
  std::uint32_t queue = 0;
  std::array<std::uint8_t, 6> mac{};
  std::uint32_t ipv4 = 0;
  std::uint16_t udp_port = 0;
  GDR_FIELDS(queue, mac, ipv4, udp_port)
  using Reply = Nothing;
};

struct Range {
  std::uint32_t buffer = 0;
  std::uint64_t from = 0;
  std::uint64_t length = 0;
  GDR_FIELDS(buffer, from, length)
};
// The pattern that memory holds before a transfer: by position in the buffer.
struct Prepare {
  Range range;
  std::uint64_t seed = 0;
  GDR_FIELDS(range, seed)
  using Reply = Nothing;
};
// The data of a transfer: by position in the data. What a short source held before is
// `previous_seed`.
struct Fill {
  Range range;
  std::uint64_t seed = 0;
  std::uint64_t previous_seed = 0;
  GDR_FIELDS(range, seed, previous_seed)
  using Reply = Nothing;
};
struct Store {
  std::uint32_t buffer = 0;
  std::uint64_t from = 0;
  Bytes bytes;
  GDR_FIELDS(buffer, from, bytes)
  using Reply = Nothing;
};

struct PostReceive {
  std::uint32_t queue = 0;
  Range range;
  GDR_FIELDS(queue, range)
  using Reply = Nothing;
};
struct Completion {
  bool seen = false;  // within the time given
  std::int32_t status = 0;
  std::string status_text;
  std::int32_t opcode = 0;
  std::uint32_t vendor_error = 0;
  std::uint32_t length = 0;
  bool has_immediate = false;
  std::uint32_t immediate = 0;
  bool ok() const { return seen && status == 0; }
  GDR_FIELDS(seen, status, status_text, opcode, vendor_error, length, has_immediate, immediate)
};
// Posts one work request and waits for its completion.
struct Execute {
  std::uint32_t queue = 0;
  Operation operation = Operation::kWrite;
  Range range;
  std::uint64_t remote_address = 0;
  std::uint32_t rkey = 0;
  std::uint32_t immediate = 0;
  std::uint64_t compare_or_add = 0;
  std::uint64_t swap = 0;
  std::uint32_t remote_number = 0;  // UD
  std::uint16_t remote_lid = 0;
  std::array<std::uint8_t, 16> remote_gid{};
  std::uint32_t milliseconds = 0;
  GDR_FIELDS(queue, operation, range, remote_address, rkey, immediate, compare_or_add, swap,
             remote_number, remote_lid, remote_gid, milliseconds)
  using Reply = Completion;
};
struct AwaitReceive {
  std::uint32_t queue = 0;
  std::uint32_t milliseconds = 0;
  GDR_FIELDS(queue, milliseconds)
  using Reply = Completion;
};

// The owner looks at its memory. `literal` instead of the pattern when it is not empty.
struct Examine {
  Range data;
  std::uint64_t guard = 0;
  std::uint64_t seed = 0;
  std::uint64_t before_seed = 0;
  std::uint64_t previous_seed = 0;
  Bytes literal;
  GDR_FIELDS(data, guard, seed, before_seed, previous_seed, literal)
  using Reply = Damage;
};

// The server of `gdr prove` on another host, and the number by which it knows this proof.
struct ServerOfProof {
  std::string host;  // empty: none, both sides are on this host
  std::uint16_t port = 0;
  std::string secret_file;  // empty: none
  std::uint64_t ticket = 0;
  std::optional<std::string> given_secret() const {
    return secret_file.empty() ? std::nullopt : std::optional(secret_file);
  }
  GDR_FIELDS(host, port, secret_file, ticket)
};

// A row of `gdr perf`, from this worker to the other one's NIC.
struct Measure {
  std::string far_nic;
  std::uint8_t far_port = 1;
  bool soft = false, require_hardware = false;
  ServerOfProof server;
  perf::Load load;
  GDR_FIELDS(far_nic, far_port, soft, require_hardware, server, load)
  struct Reply {
    double messages_per_second = 0;  // of bandwidth and rate
    double nanoseconds = 0;          // of latency
    GDR_FIELDS(messages_per_second, nanoseconds)
  };
};

// How many packets its port has received, as the kernel counts them. The server of another host
// answers this, and no worker.
struct CountPackets {
  GDR_NO_FIELDS
  struct Reply {
    bool known = false;
    std::int64_t packets = 0;
    GDR_FIELDS(known, packets)
    bool operator==(const Reply&) const = default;
  };
};

using Messages = std::tuple<Failure, Nothing, Survey, Survey::Reply, Open, Open::Reply,
                            CreateBuffer, CreateBuffer::Reply, DestroyBuffer, CreateQueue,
                            CreateQueue::Reply, Connect, DestroyQueue, Steer, Prepare, Fill, Store,
                            PostReceive, Execute, AwaitReceive, Completion, Examine, Damage,
                            Measure, Measure::Reply, CountPackets, CountPackets::Reply>;

}  // namespace gdr::proof
