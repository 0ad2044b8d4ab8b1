// What the table, the page and the progress line write alike: amounts in words, what a group of
// rows has in common, how many times as fast direct is as staged.
//
//   message_size(65536)        // "64 KiB"
//   gigabytes(12.345e9)        // "12.3 GB/s"
//   group_title(load)          // "write, RC, bandwidth: host → gpu:0, 4 queue pairs"
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "perf/report.h"

namespace gdr::perf {

// Three digits that count: "0.00123", "1.23", "12.3", "123", "1234".
std::string digits(double value);
std::string message_size(std::uint64_t bytes);   // "64 B", "4 KiB", "1500 B"
std::string gigabytes(double bytes_per_second);  // powers of ten
std::string megamessages(double messages_per_second);
std::string microseconds(double nanoseconds);
std::string percent(double share);

// "host → gpu:0": from where the data comes to where it goes, seen from the client on the left.
std::string direction(const Load& load);
// What rows of one group have in common: everything but the size. Settings that are as usual are
// left out. With a unit: "write, RC, bandwidth in GB/s: ...".
std::string group_title(const Load& load, const char* unit = "");
bool is_same_group(const Load& a, const Load& b);

// "mlx5_0 24.1 GB/s (50 %), mlx5_1 24.0 GB/s (50 %)": what each port had of a row.
std::string shares_text(const Row& row);

// The limit that is nearest; nullptr: none is known.
const Limit* nearest_limit(const Row& row);

// What the measure of a row is about: bandwidth, rate or the median of the latency; 0: none.
double main_figure(const Row& row);

// The same load into GPU memory directly and staged through host memory.
struct Gain {
  const Row* direct = nullptr;
  const Row* staged = nullptr;
  double factor = 0;  // how many times as fast direct is
};
// In the order of the staged rows. It points into `rows`.
std::vector<Gain> gains(const std::vector<Row>& rows);

// "NIC", "NIC and GPU", or empty: which parts of a side are stand-ins.
std::string stand_ins(const Side& side);

}  // namespace gdr::perf
