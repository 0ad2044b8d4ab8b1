#include "wire/printer.h"

#include <cinttypes>
#include <cstdarg>
#include <cstdio>

#include "base/bytes.h"

namespace gdr::wire {
namespace {

// Each field begins with two blanks, so that a reader (and `cut`) can tell them apart.
__attribute__((format(printf, 2, 3))) void append(std::string* text, const char* format, ...) {
  char field[128];
  va_list arguments;
  va_start(arguments, format);
  std::vsnprintf(field, sizeof field, format, arguments);
  va_end(arguments);
  *text += "  ";
  *text += field;
}

const char* name_of(NakCode code) {
  switch (code) {
    case NakCode::kSequenceError:
      return "PSN sequence error";
    case NakCode::kInvalidRequest:
      return "invalid request";
    case NakCode::kRemoteAccessError:
      return "remote access error";
    case NakCode::kRemoteOperationalError:
      return "remote operational error";
    case NakCode::kInvalidRdRequest:
      return "invalid RD request";
  }
  return "reserved code";
}

void append_aeth(std::string* text, const Aeth& aeth) {
  const unsigned value = value_of(aeth.syndrome);
  switch (acknowledge_of(aeth.syndrome)) {
    case Acknowledge::kAck:
      append(text, "ack");
      if (value != kNoCredits) append(text, "credit code %u", value);
      break;
    case Acknowledge::kRnrNak:
      append(text, "receiver not ready, timer code %u", value);
      break;
    case Acknowledge::kNak:
      append(text, "nak: %s (%u)", name_of(NakCode(value)), value);
      break;
    case Acknowledge::kReserved:
      append(text, "reserved syndrome 0x%02x", aeth.syndrome);
      break;
  }
  append(text, "msn 0x%06x", aeth.msn);
}

void append_bth(std::string* text, const Packet& packet) {
  append(text, "qp 0x%06x", packet.destination_qp);
  append(text, "psn 0x%06x", packet.psn);
  if (packet.partition_key != kDefaultPartitionKey)
    append(text, "pkey 0x%04x", packet.partition_key);
  if (packet.solicited) append(text, "solicited");
  if (packet.ack_request) append(text, "ack request");
  if (packet.fecn) append(text, "fecn");
  if (packet.becn) append(text, "becn");
}

void append_extensions(std::string* text, const Packet& packet) {
  const OpcodeInfo& info = *packet.info;
  if (info.is(kHasXrceth)) append(text, "srq 0x%06x", packet.xrc_srq);
  if (info.is(kHasDeth)) {
    append(text, "qkey 0x%08x", packet.deth.qkey);
    append(text, "source qp 0x%06x", packet.deth.source_qp);
  }
  if (info.is(kHasReth)) {
    append(text, "va 0x%" PRIx64, packet.reth.address);
    append(text, "rkey 0x%08x", packet.reth.rkey);
    append(text, "dmalen %u", packet.reth.length);
  }
  if (info.is(kHasAtomicEth)) {
    append(text, "va 0x%" PRIx64, packet.atomic.address);
    append(text, "rkey 0x%08x", packet.atomic.rkey);
    const bool swap = packet.operation() == Operation::kCompareSwap;
    append(text, "%s 0x%" PRIx64, swap ? "swap" : "add", packet.atomic.swap_or_add);
    if (swap) append(text, "compare 0x%" PRIx64, packet.atomic.compare);
  }
  if (info.is(kHasAeth)) append_aeth(text, packet.aeth);
  if (info.is(kHasAtomicAckEth)) append(text, "original 0x%" PRIx64, packet.atomic_original);
  if (info.is(kHasImmDt)) append(text, "immediate 0x%08x", load_be32(&packet.immediate));
  if (info.is(kHasIeth)) append(text, "invalidate 0x%08x", packet.invalidate_key);
}

}  // namespace

std::string describe(const Packet& packet) {
  std::string text = packet.info->name;
  append_bth(&text, packet);
  append_extensions(&text, packet);
  if (packet.info->is(kPayload)) {
    append(&text, "%zu bytes", packet.payload.size());
    if (packet.pad != 0) append(&text, "pad %u", packet.pad);
  }
  return text;
}

std::string describe(ParseError error) {
  switch (error) {
    case ParseError::kNone:
      return "no error";
    case ParseError::kTooShort:
      return "too short for its headers";
    case ParseError::kUnknownOpcode:
      return "unknown opcode";
    case ParseError::kWrongVersion:
      return "unknown version of the transport header";
    case ParseError::kUnexpectedPayload:
      return "payload behind an opcode that has none";
    case ParseError::kTooLong:
      return "payload above 4096 bytes";
  }
  return "unknown error";
}

}  // namespace gdr::wire
