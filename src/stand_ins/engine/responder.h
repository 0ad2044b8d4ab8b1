// Responder: the receiving half of a connection (RC, XRC, UC), modelled like that of Linux rxe: a
// request goes through named steps, a small function each. What it answers is in
// responder_answers.cc, with the duplicates that want an answer again.
//
// Nothing is sent from within receive(): answers are due until poll_transmit() takes them, so that
// one ACK answers all that came since the last. Their order is that of the requests (9.7.5.1.1):
// first read responses and atomic results by PSN, then the ACK or NAK behind them.
//
// Hot: receive() of the packet that is expected, poll_transmit().
#pragma once

#include <algorithm>
#include <cstdint>
#include <vector>

#include "engine/connection.h"
#include "engine/packet_maker.h"
#include "engine/ring.h"

namespace gdr::engine {

class Responder {
 public:
  Responder(const ConnectionSettings& settings, Owner& owner);

  // --- Inputs
  void receive(const wire::Packet& request);
  void receive_posted();
  void payload_unavailable(const Transmit& transmit);  // of a read response

  // --- Outputs
  bool poll_transmit(Transmit* transmit);
  // Sends a long read; other packets take turns with it.
  bool is_reading() const { return replies_due_ > 0; }
  // It has sent its last NAK: it hears nothing any more.
  bool failed() const { return state_ == State::kFailed; }

 private:
  enum class Step : std::uint8_t {
    kCheckPsn,
    kCheckOperation,
    kCheckResources,
    kCheckLength,
    kCheckKey,
    kExecute,
    kComplete,
    kAcknowledge,
    kDuplicate,
    kDone,
  };
  enum class State : std::uint8_t { kReady, kFailing, kFailed };  // failing: the NAK is due
  enum class Answer : std::uint8_t { kNone, kAcknowledge, kNak };

  // The message of which packets are coming in.
  struct Message {
    bool open = false;  // its first packet was taken, its last was not
    bool is_write = false;
    bool has_receive = false;
    std::uint32_t rkey = 0;
    std::uint32_t xrc_srq = 0;
    std::uint64_t address = 0;
    std::uint64_t length = 0;  // of a write: what its RETH says
    std::uint64_t offset = 0;  // bytes taken
  };

  // A read or an atomic, kept so that it can be answered again.
  struct Resource {
    bool used = false;
    bool due = false;
    bool is_atomic = false;
    bool again = false;  // due once more, for a duplicate
    std::uint32_t first_psn = 0;
    std::uint32_t packets = 0;
    std::uint32_t begin = 0;  // this answer's first packet, its next, and behind its last
    std::uint32_t next = 0;
    std::uint32_t end = 0;
    std::uint32_t last_bytes = 0;  // of the packet before end
    std::uint32_t msn = 0;
    std::uint32_t xrc_srq = 0;
    std::uint32_t rkey = 0;
    std::uint64_t address = 0;
    std::uint64_t length = 0;
    std::uint64_t original = 0;
    std::uint64_t behind = 0;  // the piece that has to be in place first
  };

  // A send or write that has all come, and is not all in place yet.
  struct Unplaced {
    std::uint32_t psn;     // its last packet's
    std::uint32_t before;  // what an ACK names, and its MSN, that does not answer it
    std::uint32_t msn;
    std::uint64_t piece;  // its last
  };

  // --- responder.cc: the steps
  Step run(Step step, const wire::Packet& request);
  Step check_psn(const wire::Packet& request);
  Step check_psn_unreliable(const wire::Packet& request);
  Step check_operation(const wire::Packet& request);
  Step check_resources(const wire::Packet& request);
  Step check_length(const wire::Packet& request);
  Step check_key(const wire::Packet& request);
  Step execute(const wire::Packet& request);
  Step complete(const wire::Packet& request);
  Step acknowledge(const wire::Packet& request);

  // --- responder_execute.cc
  Step execute_send(const wire::Packet& request);
  Step execute_write(const wire::Packet& request);
  Step execute_read(const wire::Packet& request);
  Step execute_atomic(const wire::Packet& request);
  void open_message(const wire::Packet& request);
  Resource& keep(const wire::Packet& request, std::uint32_t packets);
  Step refuse(wire::NakCode code, Fault fault);
  Step refuse_receive(const wire::Packet& request, Placed outcome);
  Step not_ready(const wire::Packet& request);
  Step drop_message();
  void give_up(wire::NakCode code, Fault fault, std::uint32_t psn);

  // --- responder_answers.cc
  Step answer_again(const wire::Packet& request);
  void read_again(const wire::Packet& request, Resource* resource);
  Resource* find_resource(std::uint32_t psn);
  Resource* next_reply();
  bool make_read_response(Resource& resource, Transmit* transmit);
  void make_atomic_response(Resource& resource, Transmit* transmit);
  void make_answer(Transmit* transmit);
  bool acknowledge_placed(Transmit* transmit);
  void set_due(Resource* resource, bool due);
  void look_at_placed(std::uint64_t placed);
  void give_up_lost(const Unplaced& message);
  std::uint8_t credits(std::uint32_t msn);

  Owner& owner_;
  PacketMaker maker_;
  std::uint32_t path_mtu_;
  bool reliable_;
  bool xrc_;
  std::uint8_t minimum_rnr_timer_;
  State state_ = State::kReady;

  void advance(std::uint32_t packets) {
    expected_ = wire::psn_add(expected_, packets);
    advanced_ = std::min(advanced_ + packets, kMostDuplicates);
  }

  // Duplicates lie at most so far behind what is expected (9.7.4.1.1), and not before the first.
  static constexpr std::uint32_t kMostDuplicates = 1u << 23;

  std::uint32_t expected_;      // PSN
  std::uint32_t advanced_ = 0;  // PSNs taken since the first, or kMostDuplicates
  std::uint32_t taken_;         // PSN of the newest packet of a send or write: what an ACK names
  std::uint32_t msn_ = 0;
  Message message_;

  // One NAK for each gap: until the expected packet comes, unless PSNs fall, which says that the
  // requester has gone back and lost the packet again.
  bool gap_told_ = false;
  std::uint32_t gap_last_ = 0;

  Ring<Unplaced> unplaced_;  // in order: answers wait for them

  Answer answer_ = Answer::kNone;
  std::uint32_t told_ = 0;  // what the last ACK named
  std::uint8_t nak_ = 0;    // syndrome
  std::uint32_t nak_psn_ = 0;
  Fault fault_ = Fault::kRequest;
  std::uint32_t promised_ = 0;  // the limit sequence number that was last sent
  bool promises_ = false;

  std::vector<Resource> resources_;  // a ring
  std::size_t newest_ = 0;
  std::uint32_t replies_due_ = 0;
  Resource* replying_ = nullptr;
};

}  // namespace gdr::engine
