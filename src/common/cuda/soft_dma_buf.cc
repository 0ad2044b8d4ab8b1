#include "cuda/soft_dma_buf.h"

#include <unistd.h>

#include <charconv>
#include <string_view>

namespace gdr::cuda {
namespace {

constexpr std::string_view kPrefix = "gdrkit-soft-dma-buf:";

template <typename Number>
bool take(std::string_view& text, Number& value, char end) {
  auto [stop, error] = std::from_chars(text.data(), text.data() + text.size(), value, 16);
  if (error != std::errc{} || stop == text.data() + text.size() || *stop != end) return false;
  text.remove_prefix(static_cast<std::size_t>(stop - text.data()) + 1);
  return true;
}

}  // namespace

std::string soft_dma_buf_name(const SoftDmaBuf& buffer) {
  std::string name(kPrefix);
  const std::uint64_t fields[] = {static_cast<std::uint64_t>(buffer.process), buffer.address,
                                  buffer.bytes, buffer.buffer_id};
  for (std::uint64_t field : fields) {
    char digits[16];
    auto end = std::to_chars(digits, digits + sizeof digits, field, 16).ptr;
    name.append(digits, end).push_back(':');
  }
  return name;
}

std::optional<SoftDmaBuf> identify_soft_dma_buf(int fd) {
  if (fd < 0) return std::nullopt;
  const std::string link = "/proc/self/fd/" + std::to_string(fd);
  char target[256];
  const ssize_t length = readlink(link.c_str(), target, sizeof target);
  if (length <= 0) return std::nullopt;
  std::string_view text(target, static_cast<std::size_t>(length));
  constexpr std::string_view kMemfd = "/memfd:";
  if (!text.starts_with(kMemfd)) return std::nullopt;
  text.remove_prefix(kMemfd.size());
  if (!text.starts_with(kPrefix)) return std::nullopt;
  text.remove_prefix(kPrefix.size());
  SoftDmaBuf buffer;
  if (!take(text, buffer.process, ':') || !take(text, buffer.address, ':') ||
      !take(text, buffer.bytes, ':') || !take(text, buffer.buffer_id, ':')) {
    return std::nullopt;
  }
  if (buffer.process <= 0 || buffer.bytes == 0 || buffer.address + buffer.bytes < buffer.address) {
    return std::nullopt;
  }
  return buffer;
}

}  // namespace gdr::cuda
