#include "process/apart.h"

#include <errno.h>
#include <string.h>
#include <unistd.h>

#include "base/output_file.h"
#include "process/start.h"

namespace gdr::process {
namespace {

constexpr std::size_t kMostBytes = 1 << 20;

}  // namespace

Result<Bytes> bytes_from_apart(const std::string& name, Nanoseconds limit,
                               const std::function<Bytes()>& work) {
  Result<Pipe> answer = make_pipe();
  if (!answer) return answer.error();
  Start start;
  start.leads_group = true;
  const Result<pid_t> pid = begin(start, [&] {
    const Bytes bytes = work();
    const std::string_view text(reinterpret_cast<const char*>(bytes.data()), bytes.size());
    return write_whole(answer->write_end.get(), text) ? 0 : 1;
  });
  if (!pid) return pid.error();
  answer->write_end.reset();
  const ChildEnd end = read_child(*pid, std::move(answer->read_end), limit, kMostBytes);
  if (end.timed_out) {
    return Error{ETIMEDOUT,
                 name + " did not answer within " + std::to_string(limit / kSecond) + " s"};
  }
  if (end.status != 0) {
    return Error{ECONNRESET, name + " ended its process: " + status_text(end.status)};
  }
  Bytes bytes(end.output.size());
  if (!bytes.empty()) memcpy(bytes.data(), end.output.data(), bytes.size());
  return bytes;
}

}  // namespace gdr::process
