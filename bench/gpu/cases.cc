#include "cases.h"

namespace gdr::bench {
namespace {

constexpr Memory kGpu = Memory::kGpu;
constexpr Memory kPinned = Memory::kPinned;
constexpr Memory kOrdinary = Memory::kOrdinary;
constexpr char kToGpu[] = "GPU -> peer's GPU";
constexpr char kFromHost[] = "host -> peer's GPU";
constexpr char kToHost[] = "GPU -> host";
constexpr char kFromPeer[] = "peer's GPU -> host";

// In the order of CaseId.
constexpr Case kTable[kCases] = {
    {kToGpu, "bare copy", Way::kBareOut, kGpu, kGpu, false, kBareCopy},
    {kToGpu, "RC write", Way::kWrite, kGpu, kGpu, false, kBareCopy},
    {kToGpu, "bare copies, in flight", Way::kBareOut, kGpu, kGpu, true, kBareCopies},
    {kToGpu, "RC writes, in flight", Way::kWrite, kGpu, kGpu, true, kBareCopies},
    {kToGpu, "staged, serial", Way::kStaged, kGpu, kGpu, false, kBareCopy},
    {kToGpu, "staged, overlapping", Way::kStagedChunks, kGpu, kGpu, false, kBareCopy},
    {kFromHost, "bare, from pinned", Way::kBareOut, kPinned, kGpu, false, kBareFromPinned},
    {kFromHost, "RC write, from pinned", Way::kWrite, kPinned, kGpu, false, kBareFromPinned},
    {kFromHost, "RC write, from ordinary", Way::kWrite, kOrdinary, kGpu, false, kBareFromPinned},
    {kToHost, "bare, into own pinned", Way::kBareOut, kGpu, kPinned, false, kBareToPinned},
    {kToHost, "RC write, peer's pinned", Way::kWrite, kGpu, kPinned, false, kBareToPinned},
    {kToHost, "RC write, peer's ordinary", Way::kWrite, kGpu, kOrdinary, false, kBareToPinned},
    {kFromPeer, "bare, into own pinned", Way::kBareIn, kGpu, kPinned, false, kBareFromPeer},
    {kFromPeer, "RC read, own pinned", Way::kRead, kGpu, kPinned, false, kBareFromPeer},
    {kFromPeer, "RC read, own ordinary", Way::kRead, kGpu, kOrdinary, false, kBareFromPeer},
};

}  // namespace

const Case& case_of(std::size_t id) { return kTable[id]; }

}  // namespace gdr::bench
