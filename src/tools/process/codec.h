// Messages between processes as bytes: numbers, enumerations, strings, arrays,
// vectors and structs that list their fields. A decoder checks every length against what is left,
// so that a message cut short or made up is an error and nothing else.
//
//   struct Ping {
//     std::uint32_t number = 0;
//     std::string text;
//     GDR_FIELDS(number, text)
//   };
//   std::vector<std::byte> message = encode(Ping{7, "hello"});
//   Result<Ping> ping = decode<Ping>(message);
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <span>
#include <string>
#include <tuple>
#include <type_traits>
#include <vector>

#include "base/result.h"

#define GDR_FIELDS(...)                \
  template <typename Visitor>          \
  void visit(Visitor& visitor) {       \
    visitor(__VA_ARGS__);              \
  }                                    \
  template <typename Visitor>          \
  void visit(Visitor& visitor) const { \
    visitor(__VA_ARGS__);              \
  }
#define GDR_NO_FIELDS         \
  template <typename Visitor> \
  void visit(Visitor&) const {}

namespace gdr::process {

using Bytes = std::vector<std::byte>;

// Bytes are all that they are: no representation of theirs is another one's.
template <typename T>
inline constexpr bool kIsByte = (std::is_integral_v<T> && sizeof(T) == 1 &&
                                 !std::is_same_v<T, bool>) ||
                                std::is_same_v<T, std::byte>;

class Encoder {
 public:
  template <typename... T>
  void operator()(const T&... values) {
    (put(values), ...);
  }
  Bytes take();

 private:
  // Messages are made of many small fields: what is here is called for each of them.
  void put_raw(const void* from, std::size_t size) {
    if (bytes_.size() - end_ < size) make_room(size);
    if (size > 0) std::memcpy(bytes_.data() + end_, from, size);
    end_ += size;
  }
  void make_room(std::size_t size);
  template <typename T>
  void put(const T& value) {
    if constexpr (std::is_arithmetic_v<T> || std::is_enum_v<T> || std::is_same_v<T, std::byte>) {
      put_raw(&value, sizeof value);
    } else {
      value.visit(*this);
    }
  }
  void put(const std::string& text) {
    put(static_cast<std::uint32_t>(text.size()));
    put_raw(text.data(), text.size());
  }
  template <typename T, std::size_t N>
  void put(const std::array<T, N>& values) {
    if constexpr (kIsByte<T>) {
      put_raw(values.data(), N);
    } else {
      for (const T& value : values) put(value);
    }
  }
  template <typename T>
  void put(const std::vector<T>& values) {
    put(static_cast<std::uint32_t>(values.size()));
    for (const T& value : values) put(value);
  }
  Bytes bytes_;          // its size is what there is room for
  std::size_t end_ = 0;  // of what is written
};

class Decoder {
 public:
  explicit Decoder(std::span<const std::byte> bytes) : bytes_(bytes) {}

  template <typename... T>
  void operator()(T&... values) {
    (get(values), ...);
  }
  // Everything was there, and nothing is left over.
  bool complete() const { return ok_ && bytes_.empty(); }

 private:
  bool get_raw(void* to, std::size_t size) {
    if (!ok_ || bytes_.size() < size) return ok_ = false;
    if (size > 0) std::memcpy(to, bytes_.data(), size);
    bytes_ = bytes_.subspan(size);
    return true;
  }
  template <typename T>
  void get(T& value) {
    if constexpr (std::is_same_v<T, bool>) {
      std::uint8_t byte = 0;
      get_raw(&byte, 1);
      value = byte != 0;
    } else if constexpr (std::is_arithmetic_v<T> || std::is_enum_v<T> ||
                         std::is_same_v<T, std::byte>) {
      get_raw(&value, sizeof value);
    } else {
      value.visit(*this);
    }
  }
  // An element takes a byte at least, so no count can be larger than what is left.
  std::uint32_t get_count() {
    std::uint32_t count = 0;
    get(count);
    if (count > bytes_.size()) ok_ = false;
    return ok_ ? count : 0;
  }
  void get(std::string& text) {
    text.resize(get_count());
    get_raw(text.data(), text.size());
  }
  template <typename T, std::size_t N>
  void get(std::array<T, N>& values) {
    if constexpr (kIsByte<T>) {
      get_raw(values.data(), N);
    } else {
      for (T& value : values) get(value);
    }
  }
  template <typename T>
  void get(std::vector<T>& values) {
    const std::uint32_t count = get_count();
    values.clear();
    // A message that lies about its count gets no more memory than one that does not.
    constexpr std::uint32_t kUsual = 16;
    values.reserve(std::min(count, kUsual));
    for (std::uint32_t i = 0; ok_ && i < count; ++i) get(values.emplace_back());
  }
  std::span<const std::byte> bytes_;
  bool ok_ = true;
};

// What any conversation has: a reply that says nothing, and what comes instead of a reply where the
// request could not be carried out.
struct Nothing {
  GDR_NO_FIELDS
};
struct Failure {
  std::int32_t code = 0;
  std::string text;
  GDR_FIELDS(code, text)
};

// The place of a message in the list of a conversation's, a std::tuple: its number on the wire.
template <typename Message, typename Messages, std::size_t I = 0>
constexpr std::uint8_t place_in() {
  if constexpr (std::is_same_v<Message, std::tuple_element_t<I, Messages>>) {
    return I;
  } else {
    return place_in<Message, Messages, I + 1>();
  }
}

template <typename T>
Bytes encode(const T& message) {
  Encoder encoder;
  message.visit(encoder);
  return encoder.take();
}

template <typename T>
Result<T> decode(std::span<const std::byte> bytes) {
  T message;
  Decoder decoder(bytes);
  message.visit(decoder);
  if (!decoder.complete()) return Error{EBADMSG, "malformed message"};
  return message;
}

}  // namespace gdr::process
