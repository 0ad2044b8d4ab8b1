#include <time.h>

#include <algorithm>

#include "../give_up.h"
#include "curves.h"
#include "figures.h"
#include "link.h"

namespace gdr::bench {
namespace {

constexpr std::uint32_t kProbes = 32;  // queue pairs that come and go at each count
constexpr std::uint32_t kBatch = 16;
constexpr long kNap = 1'000'000;  // nanoseconds
constexpr double kMicro = 1e6;

// How often things are done at each count.
struct Times {
  std::uint32_t transfers, events, naps, idle_naps;
  bool only_one;  // no transfers by all in turn
};
constexpr Times kFull{2048, 256, 200, 2000, false}, kQuick{256, 64, 50, 50, true};

void nap() {
  const timespec time{0, kNap};
  nanosleep(&time, nullptr);
}

// Processor time that the library's own threads take in a second: with nothing to do, over some of
// its service thread's looks around, and beside a write by one of the queue pairs each millisecond.
void add_background(Link& link, const Times& times, Figures& figures) {
  const auto share = [&](std::uint32_t naps, auto&& work) {
    const Facts before = facts();
    const double seconds = seconds_of([&] {
      for (std::uint32_t i = 0; i < naps; ++i) {
        nap();
        work();
      }
    });
    const std::int64_t taken = facts().others_nanoseconds - before.others_nanoseconds;
    return static_cast<double>(std::max<std::int64_t>(taken, 0)) / 1e6 / seconds;
  };
  figures.add("idle_cpu_ms", share(times.idle_naps, [] {}));
  figures.add("paced_cpu_ms", share(times.naps, [&] { link.write(1, {}); }));
}

void add_transfers(Link& link, const Times& times, Figures& figures) {
  const auto count = static_cast<std::uint32_t>(link.side().size());
  // Twice round at least: the first time warms up.
  const std::uint32_t one = times.transfers, all = std::max(one, count);
  const auto write = [&](std::uint32_t transfers, Manner manner) {
    link.write(transfers, manner);
    return link.write(transfers, manner) * kMicro;
  };
  const auto ping = [&](std::uint32_t transfers, Manner manner) {
    link.ping(transfers, manner);
    return link.ping(transfers, manner) * kMicro;
  };
  figures.add("write_one_us", write(one, {}));
  figures.add("send_one_us", ping(one, {}) / 2);
  figures.add("event_one_us", ping(times.events, {.wait = Wait::kSleeping}) / 2);
  if (times.only_one) return;
  figures.add("write_all_us", write(all, {.spread = count}));
  figures.add("write_rate_one_us", write(one, {.batch = kBatch}));
  figures.add("write_rate_all_us", write(all, {.spread = count, .batch = kBatch}));
  figures.add("send_all_us", ping(all, {.spread = count}) / 2);
  figures.add("send_rate_one_us", ping(one, {.batch = kBatch}));
  figures.add("send_rate_all_us", ping(all, {.spread = count, .batch = kBatch}));
}

// Times a further region beside so many queue pairs.
void add_registration(Link& link, Figures& figures) {
  std::vector<ibv_mr*> regions(kProbes);
  figures.add("register_us", kMicro * median_seconds(kProbes, [&](std::uint32_t i) {
                               regions[i] = ibv_reg_mr(link.side().domain(), link.side().bytes(),
                                                       kMessageBytes, kRights);
                             }));
  figures.add("deregister_us", kMicro * median_seconds(kProbes, [&](std::uint32_t i) {
                                 if (regions[i] == nullptr || ibv_dereg_mr(regions[i]) != 0) {
                                   give_up("a region could not be made and removed");
                                 }
                               }));
}

void add_facts(const Facts& found, Figures& figures) {
  figures.add("own_bytes", static_cast<double>(found.own_bytes()));
  figures.add("segment_bytes", static_cast<double>(found.segment_bytes));
  figures.add("resident_bytes", static_cast<double>(found.resident_bytes));
  figures.add("proportional_bytes", static_cast<double>(found.proportional_bytes));
  figures.add("page_table_bytes", static_cast<double>(found.page_table_bytes));
  figures.add("descriptors", static_cast<double>(found.descriptors));
  figures.add("threads", static_cast<double>(found.threads));
}

}  // namespace

void measure_queue_pairs(const char* what, Counts counts, Effort effort) {
  const Times& times = effort == Effort::kFull ? kFull : kQuick;
  Link link(*std::ranges::max_element(counts) + kProbes);
  Figures none(what, 0);
  add_facts(facts(), none);
  none.print();
  for (const std::uint32_t count : counts) {
    Figures figures(what, count);
    link.grow(count);
    add_facts(facts(), figures);
    const Link::Steps steps = link.time_steps(kProbes);
    figures.add("create_us", kMicro * steps.create);
    figures.add("connect_us", kMicro * steps.connect);
    figures.add("destroy_us", kMicro * steps.destroy);
    add_transfers(link, times, figures);
    add_registration(link, figures);
    add_background(link, times, figures);
    figures.print();
  }
}

}  // namespace gdr::bench
