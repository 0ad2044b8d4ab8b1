// Child: this program once more (other_process.h), with a stream of values between the two.
//
//   Child target("target");
//   target.socket().put(count);
//   const auto answer = target.socket().get<Answer>();
#pragma once

#include <sys/socket.h>

#include <cstddef>
#include <type_traits>
#include <vector>

#include "../other_process.h"

namespace gdr::bench {

// The other end gone is the end of this process: nothing is left to measure.
class Socket {
 public:
  explicit Socket(int descriptor) : descriptor_(descriptor) {}
  // Waits for the next value. False: the other end is closed.
  bool has_more() const;

  template <typename Value>
  void put(const Value& value) const {
    static_assert(std::is_trivially_copyable_v<Value>);
    put_bytes(&value, sizeof value);
  }
  template <typename Value>
  Value get() const {
    static_assert(std::is_trivially_copyable_v<Value>);
    Value value;
    get_bytes(&value, sizeof value);
    return value;
  }
  template <typename Value>
  void put_all(const std::vector<Value>& values) const {
    put(values.size());
    put_bytes(values.data(), values.size() * sizeof(Value));
  }
  template <typename Value>
  std::vector<Value> get_all() const {
    std::vector<Value> values(get<std::size_t>());
    get_bytes(values.data(), values.size() * sizeof(Value));
    return values;
  }

 private:
  void put_bytes(const void* from, std::size_t size) const;
  void get_bytes(void* to, std::size_t size) const;
  int descriptor_;
};

class Child {
 public:
  explicit Child(const char* role) : process_(SOCK_STREAM, role) {}

  const Socket& socket() const { return socket_; }

 private:
  OtherProcess process_;
  Socket socket_{process_.socket()};
};

}  // namespace gdr::bench
