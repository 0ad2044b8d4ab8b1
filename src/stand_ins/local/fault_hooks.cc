#include "local/fault_hooks.h"

#include <array>
#include <atomic>
#include <optional>
#include <string_view>

#include "base/environment.h"
#include "cuda/driver.h"

namespace gdr::local::faults {
namespace {

enum class Fault {
  kNone,
  kDropWrite,
  kShift,
  kFlipBit,
  kShortLastByte,
  kOverwriteGuard,
  kCompletionWithoutData,
  kDataWithoutCompletion,
  kWrongMac,
};

constexpr std::uint64_t kShiftBytes = 64 * 1024;

Fault chosen() {
  constexpr std::pair<std::string_view, Fault> kNames[] = {
      {"drop_write", Fault::kDropWrite},
      {"shift_64k", Fault::kShift},
      {"flip_bit", Fault::kFlipBit},
      {"short_last_byte", Fault::kShortLastByte},
      {"overwrite_guard", Fault::kOverwriteGuard},
      {"completion_without_data", Fault::kCompletionWithoutData},
      {"data_without_completion", Fault::kDataWithoutCompletion},
      {"wrong_mac", Fault::kWrongMac},
  };
  const std::string name = environment("GDR_FAULT").value_or("");
  for (const auto& [known, fault] : kNames) {
    if (name == known) return fault;
  }
  return Fault::kNone;
}

Fault active() {
  static const Fault fault = chosen();
  return fault;
}

PieceList without_first(const PieceList& list, std::uint64_t bytes) {
  PieceList rest;
  for (Piece piece : list.pieces()) {
    const std::uint64_t cut = std::min(bytes, piece.length);
    bytes -= cut;
    piece.address += cut;
    piece.key_address += cut;
    piece.length -= cut;
    rest.add(piece);
  }
  return rest;
}

// The last byte with one bit flipped comes from here; it must live as long as the transfer does.
const std::uint8_t* flipped_copy(std::uint8_t byte) {
  static std::array<std::uint8_t, 4096> kept;
  static std::atomic<std::size_t> next{0};
  std::uint8_t& place = kept[next.fetch_add(1) % kept.size()];
  place = byte ^ 0x10;
  return &place;
}

// GPU memory is read by the driver, in whatever context the posting program has.
std::optional<std::uint8_t> last_byte(const Piece& piece) {
  if (piece.where != Where::kHere || piece.on_demand) return std::nullopt;
  const std::uint64_t address = piece.address + piece.length - 1;
  if (piece.cpu_reachable()) return *reinterpret_cast<const std::uint8_t*>(address);
  const cuda::Driver* driver = cuda::Driver::already_loaded();
  std::uint8_t byte = 0;
  if (!driver || driver->memcpy_dtoh(&byte, address, 1) != cuda::CUDA_SUCCESS) return std::nullopt;
  return byte;
}

void flip_last_byte(PieceList& from) {
  const std::optional<std::uint8_t> byte = last_byte(from.pieces().back());
  if (!byte) return;
  const std::uint8_t* flipped = flipped_copy(*byte);
  from.truncate(from.bytes() - 1);
  from.add(plain_piece(flipped, 1));
}

void add_guard_bytes(PieceList& from, PieceList& to) {
  static const std::uint64_t kWrong = 0xdead'beef'dead'beef;
  Piece behind = to.pieces().back();
  behind.address += behind.length;
  behind.key_address += behind.length;
  behind.length = sizeof kWrong;
  to.add(behind);
  from.add(plain_piece(&kWrong, sizeof kWrong));
}

}  // namespace

std::atomic<bool> names_none{false};

void do_before_move(PieceList& from, PieceList& to, bool has_receive) {
  if (from.bytes() == 0) return;
  std::uint64_t kept = from.bytes();
  switch (active()) {
    case Fault::kDropWrite:
      if (!has_receive) kept = 0;
      break;
    case Fault::kCompletionWithoutData:
      if (has_receive) kept = 0;
      break;
    case Fault::kShortLastByte:
      kept -= 1;
      break;
    case Fault::kShift:
      if (kept <= kShiftBytes) return;
      to = without_first(to, kShiftBytes);
      kept -= kShiftBytes;
      break;
    case Fault::kFlipBit:
      flip_last_byte(from);
      return;
    case Fault::kOverwriteGuard:
      add_guard_bytes(from, to);
      return;
    default:
      return;
  }
  from.truncate(kept);
  to.truncate(kept);
}

void do_before_frame(std::span<std::uint8_t> frame) {
  if (active() == Fault::kWrongMac) frame[5] ^= 0x5a;
}

bool look_for_any() {
  if (active() == Fault::kNone) names_none.store(true);
  return active() != Fault::kNone;
}

bool does_hide_completion() { return active() == Fault::kDataWithoutCompletion; }

}  // namespace gdr::local::faults
