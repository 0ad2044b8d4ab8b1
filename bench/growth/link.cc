#include "link.h"

#include <algorithm>

#include "figures.h"

namespace gdr::bench {

Link::Link(std::uint32_t most) : target_("target") {
  target_.socket().put(most);
  there_ = target_.socket().get<Place>();
  side_.emplace(most);
  target_.socket().put(side_->place());
}

std::vector<std::uint32_t> Link::add(std::uint32_t count) {
  std::vector<std::uint32_t> numbers(count);
  for (std::uint32_t i = 0; i < count; ++i) {
    numbers[i] = side_->number(side_->size() - count + i);
  }
  order({.order = Order::kAdd, .count = count});
  target_.socket().put_all(numbers);
  return target_.socket().get_all<std::uint32_t>();
}

void Link::grow(std::uint32_t count) {
  const auto present = static_cast<std::uint32_t>(side_->size());
  if (count <= present) return;
  for (std::uint32_t i = present; i < count; ++i) side_->add();
  const std::vector<std::uint32_t> numbers = add(count - present);
  for (std::uint32_t i = present; i < count; ++i) {
    side_->connect(i, numbers[i - present], there_.gid);
    side_->post_receives(i);
  }
}

Link::Steps Link::time_steps(std::uint32_t times) {
  const std::size_t present = side_->size();
  Steps steps{};
  steps.create = median_seconds(times, [&](std::uint32_t) { side_->add(); });
  const std::vector<std::uint32_t> numbers = add(times);
  steps.connect = median_seconds(
      times, [&](std::uint32_t i) { side_->connect(present + i, numbers[i], there_.gid); });
  steps.destroy = median_seconds(times, [&](std::uint32_t) { side_->remove_last(); });
  order({.order = Order::kRemove, .count = times});
  (void)target_.socket().get<bool>();
  return steps;
}

double Link::write(std::uint32_t count, Manner manner) {
  return median_of_parts(count, manner.batch, [&](std::uint32_t i) {
    for (std::uint32_t k = 0; k < manner.batch; ++k) side_->write((i + k) % manner.spread, there_);
    for (std::uint32_t k = 0; k < manner.batch; ++k) side_->take_sent((i + k) % manner.spread, 1);
  });
}

double Link::ping(std::uint32_t count, Manner manner) {
  if (manner.wait == Wait::kSleeping) side_->arm();
  order({.order = Order::kPong, .count = count, .batch = manner.batch, .wait = manner.wait});
  (void)target_.socket().get<bool>();
  return median_of_parts(count, manner.batch, [&](std::uint32_t i) {
    for (std::uint32_t k = 0; k < manner.batch; ++k) side_->send((i + k) % manner.spread);
    for (std::uint32_t k = 0; k < manner.batch; ++k) side_->take_sent((i + k) % manner.spread, 1);
    side_->take_message(manner.wait);
  });
}

std::vector<Slice> Link::register_there(std::uint32_t count, SliceMemory memory) {
  order({.order = Order::kRegister, .count = count, .memory = memory});
  return target_.socket().get_all<Slice>();
}

Facts Link::facts_there() {
  order({.order = Order::kFacts});
  return target_.socket().get<Facts>();
}

}  // namespace gdr::bench
