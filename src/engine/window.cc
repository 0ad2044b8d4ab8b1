#include "engine/window.h"

namespace gdr::engine {
namespace {

constexpr std::uint64_t kLeastPackets = 4;
// Additive increase in packets for each window of data, and what a decrease leaves, in eighths.
// Gentler than TCP's 1 and 4: the loss of a packet costs go-back-N a window besides.
constexpr std::uint64_t kIncrease = 2;
constexpr std::uint64_t kAfterLoss = 6;
constexpr std::uint64_t kAfterCongestion = 7;

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
  credit_ += bytes * kIncrease * packet_;
  const std::uint64_t growth = credit_ / size_;
  if (growth == 0) return;
  credit_ -= growth * size_;
  size_ = std::min(size_ + growth, most_);
}

void Window::shrink(std::uint64_t numerator, std::uint64_t oldest, std::uint64_t end) {
  if (oldest < recovered_) return;
  recovered_ = end;
  size_ = std::max(size_ * numerator / 8, least_);
  threshold_ = size_;
  credit_ = 0;
}

void Window::lost(std::uint64_t oldest, std::uint64_t end) { shrink(kAfterLoss, oldest, end); }

void Window::congested(std::uint64_t oldest, std::uint64_t end) {
  shrink(kAfterCongestion, oldest, end);
}

void Window::timed_out(std::uint64_t end) {
  threshold_ = std::max(size_ / 2, least_);
  size_ = least_;
  recovered_ = end;
  credit_ = 0;
}

}  // namespace gdr::engine
