#include "softgpu/context.h"

namespace gdr::softgpu {

void Context::revive() {
  if (alive_) return;
  legacy_ = std::make_shared<Stream>(this, Stream::Kind::kLegacy, 0);
  alive_ = true;
}

std::vector<Mark> Context::end() {
  std::vector<Mark> marks = outstanding();
  for (auto& [key, stream] : streams_) stream->close();
  for (auto& [thread, stream] : thread_streams_) stream->close();
  legacy_->close();
  streams_.clear();
  thread_streams_.clear();
  peers.clear();
  alive_ = false;
  return marks;
}

std::shared_ptr<Stream> Context::thread_stream() {
  auto& stream = thread_streams_[std::this_thread::get_id()];
  if (stream == nullptr) stream = std::make_shared<Stream>(this, Stream::Kind::kBlocking, 0);
  return stream;
}

std::shared_ptr<Stream> Context::add_stream(Stream::Kind kind, int priority) {
  auto stream = std::make_shared<Stream>(this, kind, priority);
  streams_[stream.get()] = stream;
  return stream;
}

bool Context::remove_stream(Stream* stream) {
  auto found = streams_.find(stream);
  if (found == streams_.end()) return false;
  found->second->close();
  streams_.erase(found);
  return true;
}

std::shared_ptr<Stream> Context::find_stream(Stream* stream) const {
  auto found = streams_.find(stream);
  return found != streams_.end() ? found->second : nullptr;
}

std::vector<Mark> Context::implicit_order(const Stream& stream) const {
  std::vector<Mark> marks;
  auto add = [&](const std::shared_ptr<Stream>& other) {
    if (other.get() != &stream && !other->idle()) marks.push_back(other->last());
  };
  if (stream.kind() == Stream::Kind::kBlocking) add(legacy_);
  if (stream.kind() == Stream::Kind::kLegacy) {
    for (const auto& [key, other] : streams_) {
      if (other->kind() == Stream::Kind::kBlocking) add(other);
    }
    for (const auto& [thread, other] : thread_streams_) add(other);
  }
  return marks;
}

std::vector<Mark> Context::outstanding() const {
  std::vector<Mark> marks;
  auto add = [&](const std::shared_ptr<Stream>& stream) {
    if (!stream->idle()) marks.push_back(stream->last());
  };
  add(legacy_);
  for (const auto& [key, stream] : streams_) add(stream);
  for (const auto& [thread, stream] : thread_streams_) add(stream);
  return marks;
}

}  // namespace gdr::softgpu
