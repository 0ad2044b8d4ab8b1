// Child: a second process for a test, with a wire to talk over. It runs a function and exits.
//
//   Child child([](Wire& wire) { wire.send(wire.receive<int>() + 1); });
//   child.wire().send(41);
//   EXPECT_EQ(child.wire().receive<int>(), 42);
//   child.finish();                      // fails the test unless the function returned
//
// What would wait for ever ends: a wire that stays silent throws, a child outlives neither its test
// nor its alarm. Make children before the test opens a device.
#pragma once

#include <sys/types.h>

#include <cerrno>
#include <cstddef>
#include <functional>
#include <stdexcept>
#include <string>
#include <type_traits>
#include <vector>

#include "base/unique_fd.h"
#include "refuse_calls.h"
#include "soon.h"

namespace gdr::test {

struct Failure : std::runtime_error {
  using std::runtime_error::runtime_error;
};

// For both sides: a child's failure is printed and becomes its exit status.
inline void require(bool condition, const std::string& claim) {
  if (!condition) throw Failure("not so: " + claim);
}

class Wire {
 public:
  explicit Wire(UniqueFd socket) : socket_(std::move(socket)) {}

  template <typename T>
  void send(const T& value) {
    static_assert(std::is_trivially_copyable_v<T>);
    send_bytes(&value, sizeof value);
  }
  template <typename T>
  T receive() {
    static_assert(std::is_trivially_copyable_v<T>);
    T value;
    receive_bytes(&value, sizeof value);
    return value;
  }
  void send_bytes(const void* bytes, std::size_t count);
  void receive_bytes(void* bytes, std::size_t count);
  // Both sides call it: neither goes on before the other has come.
  void meet();

 private:
  UniqueFd socket_;
};

class Child {
 public:
  explicit Child(const std::function<void(Wire&)>& body);
  ~Child();
  Child(const Child&) = delete;
  Child& operator=(const Child&) = delete;

  Wire& wire() { return wire_; }
  pid_t pid() const { return pid_; }
  void kill();
  // Waits for it to end by itself; the test fails if it does not, or not well.
  void finish();

 private:
  explicit Child(std::pair<UniqueFd, UniqueFd> sockets, const std::function<void(Wire&)>& body);

  Wire wire_;
  pid_t pid_ = -1;
};

// A network namespace that is empty, and a user namespace of this account's where that is needed to
// have one. False, with errno: neither is permitted.
bool enter_network_of_its_own();

// Runs the whole of a test in a process whose kernel lets no process copy to or from another: as
// root under another user's id. Failures in it are failures of the test.
void run_opaque(const std::function<void()>& test, int error = EPERM,
                const std::vector<std::uint32_t>& calls = kCopiesBetweenProcesses);

}  // namespace gdr::test
