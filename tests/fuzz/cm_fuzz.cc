// Messages of connection management from anywhere, in any order and at any time: each is read as
// one that writes back as itself, a connection answers each with a bounded number of messages and
// events, and one that nobody owns any more ends by itself, however its peer behaves.
#include <algorithm>
#include <cstdint>
#include <vector>

#include "cm/connection.h"
#include "input.h"

namespace {

using gdr::test::Input;
using gdr::test::require;

using namespace gdr::cm;

constexpr std::uint32_t kOurs = 0x00512345;
constexpr std::size_t kMostAnswers = 4;  // to one message, command or moment
constexpr int kMostMoments = 200;        // until an abandoned connection has ended

Mad mad_of(Input& input) {
  Mad mad{};
  const auto bytes = input.bytes<std::uint8_t>(input.byte());
  std::copy_n(bytes.begin(), std::min(bytes.size(), mad.size()), mad.begin());
  if ((input.byte() & 3) == 0) return mad;
  // Most are to look like messages, and like this connection's.
  mad[0] = 1;
  mad[1] = 7;
  mad[2] = 2;
  mad[3] = 3;
  mad[16] = 0;
  mad[17] = static_cast<std::uint8_t>(0x10 + input.byte() % 9);
  const std::uint8_t ours[] = {0x00, 0x51, 0x23, 0x45};
  if ((input.byte() & 1) != 0) std::copy(std::begin(ours), std::end(ours), mad.begin() + 28);
  return mad;
}

class World {
 public:
  void run(Input& input) {
    while (!input.empty()) {
      act(input);
      drain();
    }
    connection_.abandon(now_);
    drain();
    for (int i = 0; i < kMostMoments && connection_.deadline(); ++i) {
      now_ = std::max(now_, *connection_.deadline());
      connection_.expire(now_);
      drain();
    }
    require(!connection_.deadline());
  }

 private:
  void act(Input& input) {
    const std::uint8_t choice = input.byte();
    now_ += Time{input.byte()} << (choice >> 3);
    switch (choice & 7) {
      case 0:
        connection_.request(known_, now_);
        break;
      case 1:
        connection_.reply(known_, now_);
        break;
      case 2:
        connection_.ready(known_, now_);
        break;
      case 3:
        connection_.reject(known_, now_);
        break;
      case 4:
        connection_.disconnect(now_);
        break;
      case 5:
        if (connection_.deadline()) now_ = std::max(now_, *connection_.deadline());
        connection_.expire(now_);
        break;
      default:
        arrive(mad_of(input));
    }
  }

  void arrive(const Mad& mad) {
    const auto message = read(mad);
    if (!message) return;
    // What was understood is what is written.
    const Mad once = write(*message);
    const auto again = read(once);
    require(again.has_value() && write(*again) == once);
    known_ = *message;
    connection_.receive(*message, now_);
  }

  void drain() {
    std::size_t answers = 0;
    while (const auto mad = connection_.poll_send()) {
      require(++answers <= kMostAnswers && read(*mad).has_value());
    }
    answers = 0;
    while (connection_.poll_event()) require(++answers <= kMostAnswers);
  }

  Connection connection_{kOurs, 77};
  Message known_{.kind = Kind::kReq, .local_id = kOurs};
  Time now_ = 1'000'000'000;
};

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  Input input(data, size);
  World().run(input);
  return 0;
}
