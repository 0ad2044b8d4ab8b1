// Report: everything a run of `gdr perf` found, as data: the table, JSON, CSV and the page are
// written from it, and it is read back from JSON to be compared.
//
// Units: times in nanoseconds, rates in bytes, messages or bits a second.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "perf/load.h"

namespace gdr::perf {

// A figure of several repetitions, each a slice of one continuous run.
struct Figure {
  double median = 0, least = 0, most = 0;
  std::vector<double> repetitions;

  // Half the distance of the middle 80 % of the repetitions, as a share of the median.
  double spread = 0;
};

// So many samples took exactly that long.
struct Bin {
  double nanoseconds = 0;
  std::uint64_t count = 0;
};

struct Latency {
  Figure median;  // of each repetition
  // A percentile beyond what so few samples can tell is 0: 99 % takes a hundred of them.
  double mean = 0, least = 0, p50 = 0, p90 = 0, p99 = 0, p999 = 0, p9999 = 0, most = 0;
  std::uint64_t samples = 0;
  std::vector<Bin> histogram;  // every sample, in ascending order of time
};

struct Checked {
  std::uint64_t messages = 0, bytes = 0;  // compared
  std::uint64_t wrong = 0;                // messages
  std::string first;                      // what was seen of the first wrong one
  double share_of_time = 0;               // that went into filling and comparing
};

// What a figure is to be seen beside.
struct Limit {
  std::string what;  // "link of mlx5_0 port 1", "PCIe of GPU 0 (gen 4 x16)", "single-thread memcpy"
  double value = 0;  // bytes a second
  double share = 0;  // of it reached
  std::string advice;  // one sentence where the share is low and there is a reason; else empty
  std::string check;   // the doctor's check behind it; or empty
};

// What one port of either side had of a row that used several.
struct PortShare {
  std::string near_port, far_port;  // as Port::text()
  double bandwidth = 0, rate = 0;   // medians; bytes and messages a second
  double share = 0;                 // of the row's
};

struct Row {
  Load load;
  std::string problem;              // why there are no figures; else empty
  std::optional<Figure> bandwidth;  // bytes a second, of both directions together
  std::optional<Figure> rate;       // messages a second
  std::optional<Latency> latency;   // half a round trip of send and write, a whole one of the rest
  std::optional<Checked> checked;
  std::vector<PortShare> ports;  // of several
  std::vector<Limit> limits;
  std::uint64_t messages = 0, lost = 0;  // lost: of UC and UD
  std::uint64_t registered_bytes = 0;    // on this side
  double set_up_seconds = 0, seconds = 0;
  double cores_near = 0, cores_far = 0;  // processor time divided by time
  std::vector<std::string> remarks;      // "noisy: 12 % between repetitions", one sentence each
};

// A port of a NIC as it was used.
struct Port {
  std::string nic, netdev, gid;
  std::uint32_t number = 1, gid_index = 0, path_mtu = 0;
  double link_bits_per_second = 0;  // 0: not known
  // "mlx5_0", "mlx5_0:2"
  std::string text() const { return number == 1 ? nic : nic + ":" + std::to_string(number); }
  GDR_FIELDS(nic, netdev, gid, number, gid_index, path_mtu, link_bits_per_second)
};

// One side as it was used.
struct Side {
  std::string host, kernel, processor, version;  // version: gdrkit's
  std::vector<Port> ports;                       // each talks to the other side's of the same place
  std::string library;                           // libibverbs by path
  std::vector<std::string> gpus;                 // "GPU 0: NVIDIA H200 0000:41:00.0"
  bool soft_nic = false, soft_gpu = false;       // stand-ins
  GDR_FIELDS(host, kernel, processor, version, ports, library, gpus, soft_nic, soft_gpu)
};

// The processor's invariant counter, which times everything, beside the system's clock.
struct ClockReport {
  double ticks_per_second = 0;
  double drift = 0;        // of one against the other during the run, as a share
  bool invariant = false;  // else the system's clock is used
};

struct Report {
  std::string date;     // "2026-11-22T08:15:00Z"
  std::string command;  // as it was typed
  bool loopback = false;
  bool interrupted = false;
  Side near, far;
  ClockReport clock;
  std::vector<Row> rows;
  double seconds = 0;
};

}  // namespace gdr::perf
