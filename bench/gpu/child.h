// Child: another process, which sleeps except when it is ordered to do something.
//
//   Child child([&](int socket) { serve(socket); });  // until the socket closes
//   child.ask({.kind = Order::Kind::kFill, .bytes = bytes, .seed = 1});
#pragma once

#include <sys/types.h>

#include <cstdint>
#include <functional>

#include "memories.h"

namespace gdr::bench {

struct Order {
  enum class Kind : std::uint32_t { kFill, kFindWrong, kStage, kCopy };
  Kind kind = Kind::kFill;
  Memory memory = Memory::kGpu;
  std::uint64_t bytes = 0;
  std::uint64_t seed = 0;
  std::uint64_t chunk = 0;
  std::uint64_t count = 0;
  std::uint64_t which = 0;  // a CaseId
};

class Child {
 public:
  explicit Child(const std::function<void(int socket)>& serve);
  // Ends it, and waits for that.
  ~Child();
  Child(const Child&) = delete;
  Child& operator=(const Child&) = delete;

  int socket() const { return socket_; }
  std::uint64_t ask(const Order& order) const;

 private:
  pid_t pid_ = -1;
  int socket_ = -1;
};

// What every child does with kFill and kFindWrong; returns the answer.
std::uint64_t fill_or_compare(Memories& memories, const Order& order);

}  // namespace gdr::bench
