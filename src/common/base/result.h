// Result<T>: a value, or an errno with one line of explanation.
//
//   Result<int> parse_port(std::string_view text);
//
//   Result<int> port = parse_port("4791");
//   if (!port) return port.error();
//   listen_on(*port);
//
// Library code returns errors; it never prints, aborts or throws across the C ABI.
#pragma once

#include <cerrno>
#include <cstring>
#include <string>
#include <string_view>
#include <utility>
#include <variant>

namespace gdr {

struct Error {
  int code = EINVAL;    // an errno value: what the caller should do next
  std::string message;  // what was wrong, what was found, what to do; one line, may be empty
};

// The error of the system call that has just failed.
inline Error from_errno(std::string_view what) {
  const int code = errno;
  return Error{code, std::string(what) + ": " + std::strerror(code)};
}

template <typename T>
class [[nodiscard]] Result {
 public:
  Result(T value) : state_(std::in_place_index<0>, std::move(value)) {}      // NOLINT: implicit
  Result(Error error) : state_(std::in_place_index<1>, std::move(error)) {}  // NOLINT: implicit

  explicit operator bool() const { return state_.index() == 0; }
  T& operator*() & { return *std::get_if<0>(&state_); }
  const T& operator*() const& { return *std::get_if<0>(&state_); }
  T&& operator*() && { return std::move(*std::get_if<0>(&state_)); }
  T* operator->() { return std::get_if<0>(&state_); }
  const T* operator->() const { return std::get_if<0>(&state_); }
  const Error& error() const { return *std::get_if<1>(&state_); }

 private:
  std::variant<T, Error> state_;
};

template <>
class [[nodiscard]] Result<void> {
 public:
  Result() = default;
  Result(Error error) : failed_(true), error_(std::move(error)) {}  // NOLINT: implicit

  explicit operator bool() const { return !failed_; }
  const Error& error() const { return error_; }

 private:
  bool failed_ = false;
  Error error_;
};

}  // namespace gdr
