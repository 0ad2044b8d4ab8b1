// Texts that the table, the page and the progress line share: amounts, the title of a group of
// rows, and how much faster direct transfers are than staged ones.
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
// As percent(), up to ">999 %": beyond it a spread says nothing, and runs into its neighbour.
std::string spread_text(double spread);
std::string share_text(double share);  // "16 % of", "1.8x"
std::string speed_up(double factor);   // "3.94x faster", "198x slower"

// "host → gpu:0": from where the data comes to where it goes, seen from the client on the left.
std::string direction(const Load& load);
// What the rows of a group share: everything but the size. Default settings are left out. With a
// unit: "write, RC, bandwidth in GB/s: ...".
std::string group_title(const Load& load, const char* unit = "");
bool is_same_group(const Load& a, const Load& b);

// "mlx5_0 24.1 GB/s (50 %), mlx5_1 24.0 GB/s (50 %)": each port's share of a row.
std::string shares_text(const Row& row);

// Whether it can be the row's limit at all: known, and not exceeded. A row that is faster than one
// copy of the memory by a processor was limited by something else.
bool holds(const Limit& limit);
// The one that holds of which the row reached most; nullptr if there is none.
const Limit* nearest_limit(const Row& row);

// A row's bandwidth, rate or median latency; 0 if it has no figures.
double main_figure(const Row& row);

// The same load into GPU memory directly and staged through host memory.
struct Gain {
  const Row* direct = nullptr;
  const Row* staged = nullptr;
  double factor = 0;  // 2: direct is twice as fast
};
// In the order of the staged rows; points into `rows`.
std::vector<Gain> gains(const std::vector<Row>& rows);

// Which parts of a side are stand-ins: "NIC", "NIC and GPU", or empty.
std::string stand_ins(const Side& side);

}  // namespace gdr::perf
