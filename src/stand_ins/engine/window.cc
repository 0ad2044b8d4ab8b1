#include "engine/window.h"

namespace gdr::engine {
namespace {

constexpr std::uint64_t kLeastPackets = 8;
constexpr std::uint64_t kIncrease = 2;  // packets for each window of data
// What a decrease leaves, in sixteenths. Gentler than TCP, 8: the loss of a packet costs go-back-N
// a window of packets besides.
constexpr std::uint64_t kAfterLoss = 13;
constexpr std::uint64_t kAfterCongestion = 14;

}  // namespace

Window::Window(std::uint64_t most, std::uint32_t packet)
    : most_(std::max(most, kLeastPackets * packet)),
      least_(kLeastPackets * packet),
      threshold_(most_),
      packet_(packet) {
  size_ = std::max(most_ / 2, least_);
}

void Window::acknowledged(std::uint64_t bytes) {
  if (!limiting_ || size_ >= most_) return;
  limiting_ = false;
  if (size_ < threshold_) {
    size_ = std::min(size_ + bytes, most_);
    return;
  }
  std::uint64_t step = kIncrease * packet_;
  if (size_ < target_) step = std::max(step, (target_ - size_) / 2);
  credit_ += bytes * step;
  const std::uint64_t growth = credit_ / size_;
  if (growth == 0) return;
  credit_ -= growth * size_;
  size_ = std::min(size_ + growth, most_);
}

bool Window::shrink(std::uint64_t numerator, std::uint64_t oldest, std::uint64_t end) {
  if (oldest < recovered_) return false;
  recovered_ = end;
  size_ = std::max(size_ * numerator / 16, least_);
  threshold_ = size_;
  credit_ = 0;
  return true;
}

void Window::lost(std::uint64_t oldest, std::uint64_t end) {
  const std::uint64_t before = size_;
  if (!shrink(kAfterLoss, oldest, end)) return;
  // Lost before it was back where it had been: another flow wants its share.
  target_ = before < target_ ? (before + size_) / 2 : before;
}

void Window::congested(std::uint64_t oldest, std::uint64_t end) {
  if (shrink(kAfterCongestion, oldest, end)) target_ = size_;
}

void Window::timed_out(std::uint64_t end) {
  threshold_ = std::max(size_ / 2, least_);
  target_ = size_ = least_;
  recovered_ = end;
  credit_ = 0;
}

}  // namespace gdr::engine
