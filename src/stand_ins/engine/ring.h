// Ring: a queue over one array whose size is a power of two. It grows when it is full, so it stops
// allocating once it has been as long as it gets.
#pragma once

#include <cstddef>
#include <utility>
#include <vector>

namespace gdr::engine {

template <typename T>
class Ring {
 public:
  Ring() : slots_(kStart) {}
  std::size_t size() const { return tail_ - head_; }
  bool empty() const { return tail_ == head_; }
  T& operator[](std::size_t index) { return slots_[(head_ + index) & (slots_.size() - 1)]; }
  const T& operator[](std::size_t index) const {
    return slots_[(head_ + index) & (slots_.size() - 1)];
  }
  T& front() { return (*this)[0]; }
  const T& front() const { return (*this)[0]; }
  T& back() { return (*this)[size() - 1]; }
  const T& back() const { return (*this)[size() - 1]; }
  void pop_front() { ++head_; }
  void clear() { head_ = tail_; }
  void push_back(const T& value) {
    if (size() == slots_.size()) grow();
    slots_[tail_++ & (slots_.size() - 1)] = value;
  }

 private:
  static constexpr std::size_t kStart = 64;

  void grow() {
    std::vector<T> more(slots_.size() * 2);
    const std::size_t used = size();
    for (std::size_t i = 0; i < used; ++i) more[i] = (*this)[i];
    slots_ = std::move(more);
    head_ = 0;
    tail_ = used;
  }

  std::vector<T> slots_;
  std::size_t head_ = 0;
  std::size_t tail_ = 0;
};

}  // namespace gdr::engine
