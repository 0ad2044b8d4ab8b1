#include "process/frames.h"

#include <algorithm>
#include <cstring>

#include "base/bytes.h"

namespace gdr::process {

Digest Seal::mark(std::uint8_t kind, std::span<const std::byte> bytes) {
  std::array<std::uint8_t, 9> head;
  store_be64(head.data(), frames_++);
  head[8] = kind;
  Hmac hmac = keyed_;
  hmac.add(head);
  hmac.add(bytes);
  return hmac.end();
}

Result<void> Seal::open(Received& received) {
  const Error changed{EBADMSG, "a message was changed on its way, or is another process's"};
  if (received.bytes.size() < kBytes) return changed;
  const std::size_t size = received.bytes.size() - kBytes;
  Digest theirs;
  std::memcpy(theirs.data(), received.bytes.data() + size, kBytes);
  received.bytes.resize(size);
  if (!are_equal(theirs, mark(received.kind, received.bytes))) return changed;
  return {};
}

Bytes frame(std::uint8_t kind, std::span<const std::byte> bytes, Seal* seal) {
  const std::size_t size = bytes.size() + (seal != nullptr ? Seal::kBytes : 0);
  Bytes all(kFrameHead + size);
  store_be32(all.data(), static_cast<std::uint32_t>(size));
  all[4] = std::byte{kind};
  std::copy(bytes.begin(), bytes.end(), all.begin() + kFrameHead);
  if (seal == nullptr) return all;
  const Digest mark = seal->mark(kind, bytes);
  std::memcpy(all.data() + kFrameHead + bytes.size(), mark.data(), mark.size());
  return all;
}

void FrameBuffer::add(std::span<const std::byte> bytes) {
  // What was taken goes once it is more than what is left, so that each byte moves a few times.
  if (taken_ > bytes_.size() / 2) {
    bytes_.erase(bytes_.begin(), bytes_.begin() + static_cast<std::ptrdiff_t>(taken_));
    taken_ = 0;
  }
  bytes_.insert(bytes_.end(), bytes.begin(), bytes.end());
}

Result<std::optional<Received>> FrameBuffer::next() {
  const std::span<const std::byte> left = std::span(bytes_).subspan(taken_);
  if (left.size() < kFrameHead) return std::optional<Received>();
  const std::uint32_t length = load_be32(left.data());
  if (length > most_) return Error{EPROTO, "not a message of this program"};
  if (left.size() - kFrameHead < length) return std::optional<Received>();
  const std::span<const std::byte> body = left.subspan(kFrameHead, length);
  taken_ += kFrameHead + length;
  return std::optional(
      Received{static_cast<std::uint8_t>(left[4]), Bytes(body.begin(), body.end())});
}

}  // namespace gdr::process
