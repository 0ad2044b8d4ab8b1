#include "sample_report.h"

#include <algorithm>
#include <cmath>
#include <map>

namespace gdr::perf {
namespace {

Figure figure(double median, double spread) {
  Figure made{median, median * (1 - spread), median * (1 + spread), {}, spread};
  for (int i = -2; i <= 2; ++i) made.repetitions.push_back(median * (1 + spread * i / 2));
  return made;
}

// 20 000 samples: a long tail above `median`, as latencies have.
Latency latency(double median) {
  constexpr std::uint64_t kSamples = 20'000;
  std::map<double, std::uint64_t> counts;
  std::vector<double> sorted;
  for (std::uint64_t i = 0; i < kSamples; ++i) {
    const double share = (static_cast<double>(i) + 0.5) / kSamples;
    const double time = median * (0.9 + 0.1 * share * 2 + 0.05 * std::pow(1 / (1 - share), 0.45));
    sorted.push_back(std::round(time));
    ++counts[sorted.back()];
  }
  Latency made;
  made.median = figure(median, 0.012);
  made.samples = kSamples;
  const auto at = [&](double share) {
    return sorted[static_cast<std::size_t>(std::ceil(share * kSamples)) - 1];
  };
  made.least = sorted.front();
  made.p50 = at(0.5);
  made.p90 = at(0.9);
  made.p99 = at(0.99);
  made.p999 = at(0.999);
  made.p9999 = at(0.9999);
  made.most = sorted.back();
  made.mean = median * 1.05;
  for (const auto& [time, count] : counts) made.histogram.push_back({time, count});
  return made;
}

Row base(Measure measure, std::uint64_t size, Place near, Place far) {
  Row row;
  row.load.measure = measure;
  row.load.size = size;
  row.load.near = near;
  row.load.far = far;
  row.messages = 1'000'000;
  row.registered_bytes = 2 * size;
  row.set_up_seconds = 0.012;
  row.seconds = 1.5;
  row.cores_near = 1;
  row.cores_far = 0.02;
  return row;
}

Row bandwidth_row(std::uint64_t size, Place far, double peak) {
  Row row = base(Measure::kBandwidth, size, {}, far);
  const double bytes = static_cast<double>(size);
  const double reached = peak * bytes / (bytes + 6000);
  row.bandwidth = figure(reached, 0.008);
  row.rate = figure(reached / bytes, 0.008);
  row.limits = {{"link of mlx5_0 port 1", 50e9, reached / 50e9, "", ""},
                {"PCIe of GPU 0 (gen 5 x16)", 63e9, reached / 63e9, "", ""},
                {"single-thread memcpy", 21e9, reached / 21e9, "", ""}};
  if (far.kind != Place::Kind::kStaged) row.limits.pop_back();
  return row;
}

void add_bandwidth(Report& report, const std::vector<std::uint64_t>& sizes) {
  const Place gpu{Place::Kind::kGpu, 0}, staged{Place::Kind::kStaged, 0}, host;
  for (const auto& [far, peak] : {std::pair(host, 48.9e9), {gpu, 46.1e9}, {staged, 11.7e9}}) {
    for (const std::uint64_t size : sizes) {
      report.rows.push_back(bandwidth_row(size, far, peak));
    }
  }
  Row& narrow = report.rows[sizes.size() * 2 - 1];
  narrow.limits[0].advice =
      "The path MTU is 1024 B; with 4096 B the link carries 5 % more of the data.";
  narrow.limits[0].check = "path-mtu";
  narrow.remarks = {"noisy: 12 % between repetitions"};
}

void add_latency(Report& report, const std::vector<std::uint64_t>& sizes) {
  const Place gpu{Place::Kind::kGpu, 0}, staged{Place::Kind::kStaged, 0};
  for (const auto& [far, start] : {std::pair(gpu, 2100.0), {staged, 14'300.0}}) {
    for (const std::uint64_t size : sizes) {
      Row row = base(Measure::kLatency, size, far, far);
      row.load.operation = Operation::kSend;
      row.latency = latency(start + static_cast<double>(size) / 40);
      report.rows.push_back(row);
    }
  }
}

void add_rate(Report& report, const std::vector<std::uint64_t>& sizes) {
  for (const std::uint32_t queue_pairs : {1u, 64u}) {
    for (const std::uint64_t size : sizes) {
      Row row = base(Measure::kRate, size, {}, {});
      row.load.queue_pairs = queue_pairs;
      row.rate =
          figure(queue_pairs == 1 ? 8.2e6 : 92e6 / (1 + static_cast<double>(size) / 4096), 0.02);
      report.rows.push_back(row);
    }
  }
}

void add_checked(Report& report) {
  Row good = base(Measure::kBandwidth, 4096, {}, {Place::Kind::kGpuVmm, 1});
  good.load.operation = Operation::kRead;
  good.load.check = true;
  good.load.way = Way::kDmaBuf;
  good.load.both_ways = false;
  good.bandwidth = figure(3.21e9, 0.004);
  good.checked = Checked{500, 2'048'000, 0, "", 0.81};
  good.limits = {{"link of mlx5_0 port 1", 50e9, 3.21e9 / 50e9, "", ""}};
  report.rows.push_back(good);
  Row wrong = good;
  wrong.load.size = 65536;
  wrong.checked =
      Checked{500, 32'768'000, 3, "message 17: the data is displaced by +64 bytes", 0.5};
  report.rows.push_back(wrong);
  Row failed = good;
  failed.load.size = 1 << 20;
  failed.bandwidth.reset();
  failed.checked.reset();
  failed.limits.clear();
  failed.problem =
      "locked-memory limit too low: 2 MiB were needed, 64 KiB are allowed; type: ulimit -l "
      "unlimited";
  report.rows.push_back(failed);
  Row lossy = base(Measure::kBandwidth, 1024, {}, {});
  lossy.load.operation = Operation::kSend;
  lossy.load.transport = Transport::kUd;
  lossy.load.both_ways = true;
  lossy.bandwidth = figure(1.02e9, 0.03);
  lossy.lost = 12;
  report.rows.push_back(lossy);
}

}  // namespace

Report sample_report() {
  Report report;
  report.date = "2026-11-22T08:15:00Z";
  report.command = "gdr perf node2 --memory host,gpu:0,staged:0";
  report.seconds = 62.5;
  report.clock = {2'500'000'000.0, -1.5e-6, true};
  report.near = {"node1",
                 "6.1.0-37-amd64",
                 "AMD EPYC 9654",
                 "0.1.0",
                 {{"mlx5_0", "eth0", "::ffff:10.0.0.1", 1, 3, 4096, 400e9}},
                 "/usr/lib/libibverbs.so.1",
                 {"GPU 0: NVIDIA H200 0000:41:00.0"},
                 false,
                 false};
  report.far = report.near;
  report.far.host = "node2";
  report.far.ports[0].gid = "::ffff:10.0.0.2";
  report.far.gpus = {"GPU 0: software GPU fffe:01:00.0", "GPU 1: software GPU fffe:02:00.0"};
  report.far.soft_gpu = true;
  const std::vector<std::uint64_t> sizes = {64, 1024, 4096, 65536, 1 << 20, 4 << 20};
  add_bandwidth(report, sizes);
  add_latency(report, {8, 64, 4096, 65536});
  add_rate(report, {8, 64, 512, 4096});
  add_checked(report);
  return report;
}

Report report_of_hostile_server() {
  Report report = sample_report();
  Row row = report.rows[0];
  row.problem = kHostile;
  row.checked = Checked{1, 64, 1, kHostile, 0.5};
  row.limits = {{kHostile, 50e9, 0.5, kHostile, kHostile}};
  row.ports = {{"mlx5_0", kHostile, 24e9, 1e6, 1}};
  row.remarks = {kHostile};
  report.rows = {row};
  report.far = {kHostile, kHostile, kHostile, kHostile, {}, kHostile, {kHostile}, false, false};
  report.far.ports = {{kHostile, kHostile, kHostile, 1, 0, 0, 0}};
  return report;
}

}  // namespace gdr::perf
