// The target: the process that is written to. It sleeps on its socket except when ordered.
#include "link.h"
#include "slices.h"

namespace gdr::bench {
namespace {

class Target {
 public:
  explicit Target(const Socket& socket)
      : socket_(socket), most_(socket.get<std::uint32_t>()), side_(most_) {
    socket_.put(side_.place());
    other_ = socket_.get<Place>();
  }

  void carry_out(const OrderMessage& message) {
    switch (message.order) {
      case Order::kAdd:
        return add(message.count);
      case Order::kRemove:
        for (std::uint32_t i = 0; i < message.count; ++i) side_.remove_last();
        return socket_.put(true);
      case Order::kPong:
        return pong(message);
      case Order::kRegister:
        if (slices_ == nullptr) {
          slices_ = std::make_unique<SliceTable>(side_.domain(), message.memory);
        }
        slices_->grow(message.count);
        return socket_.put_all(slices_->slices());
      case Order::kFacts:
        return socket_.put(facts());
    }
  }

 private:
  void add(std::uint32_t count) {
    const std::vector<std::uint32_t> theirs = socket_.get_all<std::uint32_t>();
    std::vector<std::uint32_t> own;
    for (std::uint32_t i = 0; i < count; ++i) {
      side_.add();
      const std::size_t index = side_.size() - 1;
      side_.connect(index, theirs[i], other_.gid);
      side_.post_receives(index);
      own.push_back(side_.number(index));
    }
    socket_.put_all(own);
  }

  void pong(const OrderMessage& message) {
    if (message.wait == Wait::kSleeping) side_.arm();
    socket_.put(true);
    for (std::uint32_t i = 0; i < message.count; i += message.batch) {
      std::size_t by = 0;
      for (std::uint32_t k = 0; k < message.batch; ++k) by = side_.take_message(message.wait);
      side_.send(by);
      side_.take_sent(by, 1);
    }
  }

  const Socket& socket_;
  const std::uint32_t most_;
  Side side_;
  Place other_;
  std::unique_ptr<SliceTable> slices_;
};

}  // namespace

int run_target(const Socket& socket) {
  Target target(socket);
  while (socket.has_more()) target.carry_out(socket.get<OrderMessage>());
  return 0;
}

}  // namespace gdr::bench
