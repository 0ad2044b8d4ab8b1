// Faults on purpose, so that tests can see the proof fail: GDR_FAULT names one. Compiled into test
// builds only (GDR_FAULT_HOOKS); elsewhere every hook is empty and the variable means nothing.
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

#include <cstdint>
#include <span>

#include "local/pieces.h"

namespace gdr::local::faults {

#ifdef GDR_FAULT_HOOKS
void before_move(PieceList& from, PieceList& to, bool has_receive);
void before_frame(std::span<std::uint8_t> frame);
bool hides_completion();
bool is_any();
#else
inline void before_move(PieceList&, PieceList&, bool) {}
inline void before_frame(std::span<std::uint8_t>) {}
inline bool hides_completion() { return false; }
inline bool is_any() { return false; }
#endif

}  // namespace gdr::local::faults
