// Requester: the sending half of a reliable connection (RC, XRC): requests out of work, go-back-N,
// timers. What it does with answers is in completer.cc, its timers are in requester_timers.cc.
//
// Packets have *positions*: 0, 1, 2 ... since start(), 64 bits that never wrap; a PSN is the first
// PSN plus the position, of which the wire carries 24 bits. Works have numbers in the same way.
//
//        unacked_            acknowledged_       next_             highest_
//   done    |  first is an unanswered read   |     | to be sent again |  never sent
//
// Hot: poll_transmit(), receive() of an acknowledgement or of the read response that is expected.
#pragma once

#include <cstdint>

#include "engine/connection.h"
#include "engine/packet_maker.h"
#include "engine/ring.h"
#include "engine/window.h"

namespace gdr::engine {

class Requester {
 public:
  Requester(const ConnectionSettings& connection, const SendSettings& settings, Owner& owner);

  // --- Inputs
  void receive(const wire::Packet& answer, Nanoseconds now);  // a packet that is no request
  void congested(Nanoseconds now);                            // a CNP
  void handle_timeout(Nanoseconds now);
  void payload_unavailable(const Transmit& transmit, Nanoseconds now);
  void stop() { stopped_ = true; }

  // --- Outputs
  bool poll_transmit(Nanoseconds now, Transmit* transmit);
  Nanoseconds next_timeout() const;

 private:
  static constexpr std::uint64_t kNoWork = ~std::uint64_t{0};

  // A request message that has its PSNs and is not answered yet. A long read is asked for in
  // several, so that the window holds for what comes back, too.
  struct Request {
    std::uint64_t first;    // position of its first packet
    std::uint32_t packets;  // positions that it takes: of a read as many as its answer has packets
    WorkKind kind;
    bool needs_receive;
    bool ends_work;
    std::uint32_t ssn;     // send sequence number (9.7.7.2.5)
    std::uint64_t work;    // its work's number
    std::uint64_t offset;  // of a read's piece
    std::uint64_t length;
    std::uint64_t cost;        // of all requests before it: see cost_at()
    std::uint64_t asked_from;  // of a read: where its last request packet begins

    std::uint64_t end() const { return first + packets; }
    bool is_answered() const { return kind >= WorkKind::kRead; }  // by more than an ACK
  };

  // --- requester.cc: out of work
  bool begin_request(Nanoseconds now);
  bool load_work(std::uint64_t number);
  bool begin_local(Nanoseconds now);
  bool size_read(Request* request);
  bool may_send(const Request& request);
  bool window_permits(std::uint64_t cost);
  bool limited(const Request& request) const;
  bool skip_acknowledged();
  void make_packet(Request& request, Transmit* transmit);
  void make_read(Request& request, Transmit* transmit);
  void make_atomic(const Request& request, Transmit* transmit);
  void sent(const Request& request, std::uint64_t end, Nanoseconds now, Transmit* transmit);
  bool asks_for_acknowledgement(const Request& request, bool last);
  bool make_probe(Transmit* transmit);

  // --- completer.cc: answers
  void receive_acknowledge(const wire::Packet& answer, Nanoseconds now);
  void receive_nak(const wire::Packet& answer, std::uint64_t position, Nanoseconds now);
  void receive_rnr(const wire::Packet& answer, std::uint64_t position, Nanoseconds now);
  void receive_response(const wire::Packet& answer, Nanoseconds now);
  bool response_fits(const Request& request, const wire::Packet& answer) const;
  void take_response(const wire::Packet& answer, Nanoseconds now);
  void take_credits(const wire::Aeth& aeth);
  std::uint64_t position_of(std::uint32_t psn) const;
  const Request* find(std::uint64_t position) const;
  void acknowledge_before(std::uint64_t position, Nanoseconds now);
  void retire_front();
  void progress(Nanoseconds now);
  void heard(Nanoseconds now);
  void lost_response(std::uint64_t seen, Nanoseconds now);
  void go_back(Nanoseconds now);
  bool went_back_just_now(Nanoseconds now) const;
  void fail(Status status);
  void complete(Status status);

  // --- requester_timers.cc
  void retry_after_timeout(Nanoseconds now);
  void suspect(Nanoseconds now);
  void measure(std::uint64_t reached, Nanoseconds now);
  Nanoseconds probe_deadline() const;
  Nanoseconds timeout_deadline() const;
  bool outstanding() const { return unacked_ < highest_; }

  std::uint32_t psn_of(std::uint64_t position) const {
    return wire::psn_add(first_psn_, static_cast<std::uint32_t>(position & wire::kPsnMask));
  }
  std::uint32_t cost_of(std::uint64_t payload) const;
  std::uint64_t cost_at(const Request& request, std::uint64_t position) const;
  std::uint64_t in_flight() const;

  Owner& owner_;
  PacketMaker maker_;
  std::uint32_t path_mtu_;
  std::uint32_t first_psn_;
  std::uint32_t initiator_depth_;
  Nanoseconds timeout_;
  std::uint8_t retry_count_;
  std::uint8_t rnr_retry_;
  bool stopped_ = false;

  Ring<Request> requests_;
  std::size_t cursor_ = 0;  // the request that next_ is in; requests_.size(): one to be begun
  std::uint64_t unacked_ = 0;
  std::uint64_t acknowledged_ =
      0;  // before it everything has arrived, though reads may lack answers
  std::uint64_t next_ = 0;
  std::uint64_t highest_ = 0;

  std::uint64_t completed_ = 0;    // works
  std::uint64_t next_work_ = 0;    // the first without a request
  std::uint64_t read_offset_ = 0;  // of next_work_, a read: what pieces have asked for already
  std::uint64_t failed_work_ = kNoWork;  // its memory is gone
  Work work_;                            // of number work_number_
  std::uint64_t work_number_ = kNoWork;
  std::uint32_t reads_outstanding_ = 0;  // and atomics
  Nanoseconds local_again_at_ = 0;       // local work has to wait until then; 0: none does
  std::uint32_t without_request_bit_ =
      0;                     // packets since the last that asks for an acknowledgement
  std::uint64_t asked_ = 0;  // behind the last packet that asked for an acknowledgement

  // End-to-end credits.
  bool unlimited_ = true;
  std::uint32_t ssn_ = 0;
  std::uint32_t limit_ = 0;  // LSN

  Window window_;
  std::uint64_t cost_ = 0;  // of all requests so far

  // Recovery.
  std::uint8_t retries_left_;
  std::uint8_t rnr_left_;
  Nanoseconds rnr_until_ = 0;
  bool knocking_ = false;  // after an RNR NAK: one packet, until it is taken
  Nanoseconds went_back_at_ = 0;
  std::uint64_t gap_at_ = ~std::uint64_t{0};  // unacked_ when an answer was last found missing
  std::uint64_t gap_seen_ = 0;                // the answer that showed it
  std::uint64_t gap_end_ = 0;                 // highest_ then
  bool probe_wanted_ = false;
  std::uint64_t probe_end_ = 0;  // 0: none is out
  bool probed_read_ = false;
  Nanoseconds suspect_at_ = 0;  // if no more is heard by then, what is behind the probe was lost
  std::uint32_t probe_backoff_ = 0;

  // Time.
  Nanoseconds heard_at_ = 0;
  Nanoseconds progress_at_ = 0;
  Nanoseconds smoothed_ = 0;  // round trip
  Nanoseconds shortest_ = 0;
  std::uint64_t timed_ = 0;  // the position whose answer ends the measurement; 0: none is timed
  Nanoseconds timed_at_ = 0;
};

}  // namespace gdr::engine
