#include "session.h"

#include <sys/uio.h>

#include <array>
#include <cerrno>
#include <cstring>

#include "give_up.h"

namespace gdr::bench {
Session::Session() {
  receive_struct(target_.socket(), &other_, sizeof other_);
  endpoint_.emplace();
  own_ = endpoint_->introduction();
  own_.bare_events = bare_events_.numbers();
  send_struct(target_.socket(), &own_, sizeof own_);
  endpoint_->connect(other_);
  receive_struct(target_.socket(), &other_, sizeof other_);
}

void Session::bare_write(BufferId id, std::size_t length) {
  const iovec here{endpoint_->buffer(id).data(), length};
  const iovec there{reinterpret_cast<void*>(other_.buffers[id].address), length};
  if (process_vm_writev(target_.pid(), &here, 1, &there, 1, 0) != static_cast<ssize_t>(length)) {
    give_up("process_vm_writev: {}", std::strerror(errno));
  }
}

void Session::bare_read(BufferId id, std::size_t length) {
  const iovec here{endpoint_->buffer(id).data(), length};
  const iovec there{reinterpret_cast<void*>(other_.buffers[id].address), length};
  if (process_vm_readv(target_.pid(), &here, 1, &there, 1, 0) != static_cast<ssize_t>(length)) {
    give_up("process_vm_readv: {}", std::strerror(errno));
  }
}

void Session::bare_list(BufferId id, bool writes, std::size_t length, int count,
                        std::size_t stride) {
  std::array<iovec, kSendDepth> here, there;
  auto* const own = reinterpret_cast<char*>(endpoint_->buffer(id).data());
  auto* const its = reinterpret_cast<char*>(other_.buffers[id].address);
  std::size_t pieces = 0;
  for (int i = 0; i < count; ++i) {
    const std::size_t offset = stride * static_cast<std::size_t>(i);
    here[i] = {own + offset, length};
    if (i > 0 && stride == length) {
      there[pieces - 1].iov_len += length;
    } else {
      there[pieces++] = {its + offset, length};
    }
  }
  const auto calls = writes ? process_vm_writev : process_vm_readv;
  const auto moved = calls(target_.pid(), here.data(), count, there.data(), pieces, 0);
  if (moved != static_cast<ssize_t>(length) * count) {
    give_up("a list by process_vm_writev or _readv: {}", std::strerror(errno));
  }
}

Message Session::order(Order order, BufferId buffer, std::uint64_t count) {
  const Message message{order, buffer, count, 0};
  send_struct(target_.socket(), &message, sizeof message);
  Message answer;
  receive_struct(target_.socket(), &answer, sizeof answer);
  return answer;
}

void Session::compare(std::uint64_t found, std::uint64_t expected, std::size_t length) const {
  if (found != expected) give_up("{} bytes arrived other than they were sent", length);
}

bool Session::is_huge(BufferId id) const {
  const std::size_t size = endpoint_->buffer(id).size();
  return own_.buffers[id].huge_bytes >= size && other_.buffers[id].huge_bytes >= size;
}

}  // namespace gdr::bench
