// Child: this program once more, as another process, with a stream socket between the two. Killed
// and reaped at the end; it ends with its parent.
//
//   Child target("target");
//   target.socket().put(count);
//   target.socket().get(&answer);
#pragma once

#include <sys/types.h>

#include <cstddef>
#include <type_traits>
#include <vector>

namespace gdr::bench {

// The other end gone is the end of this process: nothing is left to measure.
class Socket {
 public:
  explicit Socket(int descriptor) : descriptor_(descriptor) {}
  int descriptor() const { return descriptor_; }

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
  explicit Child(const char* role);
  ~Child();
  Child(const Child&) = delete;
  Child& operator=(const Child&) = delete;

  const Socket& socket() const { return socket_; }

 private:
  pid_t pid_ = -1;
  Socket socket_{-1};
};

}  // namespace gdr::bench
