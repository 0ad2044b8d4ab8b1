// Tag matching through the C interface: a queue that does it, and the headers of messages.
#pragma once

#include <endian.h>
#include <infiniband/tm_types.h>

#include <cstring>

#include "side.h"

namespace gdr::test {

inline ibv_srq* tag_queue(Side& side, std::uint32_t tags = 64) {
  ibv_srq_init_attr_ex init{};
  init.attr = {.max_wr = 64, .max_sge = 2, .srq_limit = 0};
  init.comp_mask =
      IBV_SRQ_INIT_ATTR_TYPE | IBV_SRQ_INIT_ATTR_PD | IBV_SRQ_INIT_ATTR_CQ | IBV_SRQ_INIT_ATTR_TM;
  init.srq_type = IBV_SRQT_TM;
  init.pd = side.domain();
  init.cq = side.queue();
  init.tm_cap = {.max_num_tags = tags, .max_ops = 16};
  ibv_srq* srq = ibv_create_srq_ex(side.context(), &init);
  require(srq != nullptr, "a queue that matches tags");
  return srq;
}

// At the start of the memory.
inline void write_header(Memory& memory, std::uint8_t opcode, std::uint64_t tag) {
  const ibv_tmh header{
      .opcode = opcode, .reserved = {}, .app_ctx = htobe32(0xabc), .tag = htobe64(tag)};
  std::memcpy(memory.bytes(), &header, sizeof header);
}

// Behind the header: that the message lies in the same memory from byte 4096 on.
inline void announce(Memory& memory, std::uint32_t key, std::uint32_t bytes) {
  const ibv_rvh where{
      .va = htobe64(memory.remote().address + 4096), .rkey = htobe32(key), .len = htobe32(bytes)};
  std::memcpy(memory.bytes() + sizeof(ibv_tmh), &where, sizeof where);
}

}  // namespace gdr::test
