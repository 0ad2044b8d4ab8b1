// Faults on purpose, so that tests can see the proof fail: GDR_FAULT names one. Compiled into what
// developers build (GDR_FAULT_HOOKS), where a hook costs a load and a jump as long as it names
// none; in packages every hook is empty and the variable means nothing.
//
//   drop_write                a request's bytes are not moved, its completions come
//   shift_64k                 they land 64 KiB further on
//   flip_bit                  one bit of them is flipped
//   short_last_byte           the last byte is missing
//   overwrite_guard           eight bytes behind the target are overwritten
//   completion_without_data   a receive completes without its bytes
//   data_without_completion   a receive's bytes arrive, its completion does not
//   wrong_mac                 a raw frame goes to another MAC address
#pragma once

#include <atomic>
#include <cstdint>
#include <span>

#include "local/pieces.h"

namespace gdr::local::faults {

#ifdef GDR_FAULT_HOOKS
// Whether the variable is known to name none.
extern std::atomic<bool> names_none;
bool look_for_any();
void do_before_move(PieceList& from, PieceList& to, bool has_receive);
void do_before_frame(std::span<std::uint8_t> frame);
bool does_hide_completion();

inline bool is_any() { return !names_none.load(std::memory_order_relaxed) && look_for_any(); }
inline void before_move(PieceList& from, PieceList& to, bool has_receive) {
  if (is_any()) [[unlikely]]
    do_before_move(from, to, has_receive);
}
inline void before_frame(std::span<std::uint8_t> frame) {
  if (is_any()) [[unlikely]]
    do_before_frame(frame);
}
inline bool hides_completion() { return is_any() && does_hide_completion(); }
#else
inline void before_move(PieceList&, PieceList&, bool) {}
inline void before_frame(std::span<std::uint8_t>) {}
inline bool hides_completion() { return false; }
inline bool is_any() { return false; }
#endif

}  // namespace gdr::local::faults
