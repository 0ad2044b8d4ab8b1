// Processes of one host, each connected to each other one. They take turns where there are more of
// them than processors, so each step is told by its processor time, too.
#include <algorithm>
#include <memory>
#include <optional>

#include "curves.h"
#include "facts.h"
#include "figures.h"
#include "side.h"

namespace gdr::bench {
namespace {

constexpr std::uint32_t kMessages = kDepth;  // from each process to each other one, at once
constexpr std::uint32_t kTimes = 8;

enum class Step : std::uint32_t { kOpen, kConnect, kSend, kTake, kFacts, kProcessorTime };

using Members = std::vector<std::unique_ptr<Child>>;

struct Cost {
  double wall, cpu;  // seconds; the processor time of all together
};

std::int64_t cpu_of(const Members& members) {
  std::int64_t sum = 0;
  for (const auto& member : members) member->socket().put(Step::kProcessorTime);
  for (const auto& member : members) sum += member->socket().get<std::int64_t>();
  return sum;
}

// All at once, and until the last has done it. `exchange` is what they have to hear first.
template <typename Exchange>
Cost take_step(const Members& members, Step step, Exchange&& exchange) {
  const std::int64_t before = cpu_of(members);
  const double wall = seconds_of([&] {
    for (const auto& member : members) member->socket().put(step);
    exchange();
    for (const auto& member : members) (void)member->socket().get<bool>();
  });
  return {wall, static_cast<double>(cpu_of(members) - before) / 1e9};
}
Cost take_step(const Members& members, Step step) {
  return take_step(members, step, [] {});
}

// Each process's list of its own numbers, by whom they are for, becomes a list of the others' for
// it.
void exchange_numbers(const Members& members) {
  std::vector<Place> places;
  std::vector<std::vector<std::uint32_t>> numbers;
  for (const auto& member : members) {
    places.push_back(member->socket().get<Place>());
    numbers.push_back(member->socket().get_all<std::uint32_t>());
  }
  for (std::size_t i = 0; i < members.size(); ++i) {
    std::vector<std::uint32_t> for_this;
    for (const auto& of_one : numbers) for_this.push_back(of_one[i]);
    members[i]->socket().put_all(places);
    members[i]->socket().put_all(for_this);
  }
}

void add_facts(const Members& members, Figures& figures) {
  std::vector<Facts> all;
  for (const auto& member : members) {
    member->socket().put(Step::kFacts);
    all.push_back(member->socket().get<Facts>());
  }
  const auto median = [&](auto&& part) {
    std::vector<double> values;
    for (const Facts& found : all) values.push_back(static_cast<double>(part(found)));
    std::ranges::nth_element(values, values.begin() + static_cast<long>(values.size() / 2));
    return values[values.size() / 2];
  };
  figures.add("own_bytes", median([](const Facts& found) { return found.own_bytes(); }));
  figures.add("resident_bytes", median([](const Facts& found) { return found.resident_bytes; }));
  figures.add("proportional_bytes",
              median([](const Facts& found) { return found.proportional_bytes; }));
  figures.add("page_table_bytes",
              median([](const Facts& found) { return found.page_table_bytes; }));
  figures.add("descriptors", median([](const Facts& found) { return found.descriptors; }));
  figures.add("threads", median([](const Facts& found) { return found.threads; }));
}

void measure(std::uint32_t count) {
  Members members;
  for (std::uint32_t i = 0; i < count; ++i) {
    members.push_back(std::make_unique<Child>("member"));
    members.back()->socket().put(i);
    members.back()->socket().put(count);
  }
  cpu_of(members);  // all have started
  Figures figures("processes", count);
  const double each = count, pairs = each * (each - 1);
  const Cost open = take_step(members, Step::kOpen);
  const Cost connect = take_step(members, Step::kConnect, [&] { exchange_numbers(members); });
  add_facts(members, figures);
  std::vector<double> wall, cpu;
  for (std::uint32_t i = 0; i < kTimes; ++i) {
    const Cost send = take_step(members, Step::kSend), take = take_step(members, Step::kTake);
    wall.push_back(send.wall + take.wall);
    cpu.push_back(send.cpu + take.cpu);
  }
  std::ranges::sort(wall);
  std::ranges::sort(cpu);
  figures.add("open_ms", open.wall * 1e3);
  figures.add("open_cpu_ms", open.cpu / each * 1e3);
  figures.add("connect_ms", connect.wall * 1e3);
  figures.add("connect_cpu_ms", connect.cpu / each * 1e3);
  figures.add("connection_cpu_us", connect.cpu / pairs * 1e6);
  figures.add("message_us", wall[kTimes / 2] / pairs / kMessages * 1e6);
  figures.add("message_cpu_us", cpu[kTimes / 2] / pairs / kMessages * 1e6);
  figures.print();
}

// One of them.
class Member {
 public:
  explicit Member(const Socket& socket)
      : socket_(socket), index_(socket.get<std::uint32_t>()), count_(socket.get<std::uint32_t>()) {}

  void take(Step step) {
    switch (step) {
      case Step::kFacts:
        return socket_.put(facts());
      case Step::kProcessorTime:
        return socket_.put(processor_time());
      case Step::kOpen:
        side_.emplace(count_, true);
        break;
      case Step::kConnect:
        connect();
        break;
      case Step::kSend:
        send();
        break;
      case Step::kTake:
        for (std::uint32_t i = 0; i < (count_ - 1) * kMessages; ++i) {
          side_->take_message(Wait::kPolling);
        }
        break;
    }
    socket_.put(true);
  }

 private:
  // A queue pair for each process, its own index too, so that an index names a process; that one
  // stays unconnected.
  void connect() {
    std::vector<std::uint32_t> own;
    for (std::uint32_t i = 0; i < count_; ++i) {
      side_->add();
      own.push_back(side_->number(i));
    }
    socket_.put(side_->place());
    socket_.put_all(own);
    const auto places = socket_.get_all<Place>();
    const auto numbers = socket_.get_all<std::uint32_t>();
    for (std::uint32_t i = 0; i < count_; ++i) {
      if (i == index_) continue;
      side_->connect(i, numbers[i], places[i].gid);
      side_->post_receives(i);
    }
  }

  void send() {
    for (std::uint32_t i = 0; i < count_; ++i) {
      if (i == index_) continue;
      for (std::uint32_t k = 0; k < kMessages; ++k) side_->send(i);
    }
    for (std::uint32_t i = 0; i < count_; ++i) {
      if (i != index_) side_->take_sent(i, kMessages);
    }
  }

  const Socket& socket_;
  const std::uint32_t index_, count_;
  std::optional<Side> side_;
};

}  // namespace

void measure_processes(Counts counts) {
  for (const std::uint32_t count : counts) measure(count);
}

int run_member(const Socket& socket) {
  Member member(socket);
  while (socket.has_more()) member.take(socket.get<Step>());
  return 0;
}

}  // namespace gdr::bench
