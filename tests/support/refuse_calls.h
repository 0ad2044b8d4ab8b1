// From here on this process and its children are refused what filters of system calls refuse in
// containers: older ones of Docker, containerd and Podman (before a kernel of 4.8 was asked for, or
// calls were known to them), and stricter ones of a site. The error is theirs to choose, too.
//
//   refuse_calls({kCopiesBetweenProcesses}, EPERM);
#pragma once

#include <linux/filter.h>
#include <linux/seccomp.h>
#include <sys/prctl.h>
#include <sys/syscall.h>

#include <cstddef>
#include <cstdint>
#include <vector>

namespace gdr::test {

inline const std::vector<std::uint32_t> kCopiesBetweenProcesses = {SYS_process_vm_readv,
                                                                   SYS_process_vm_writev};

// What a default profile of some time has not let through.
inline const std::vector<std::uint32_t> kStrictest = {
    SYS_process_vm_readv, SYS_process_vm_writev, SYS_ptrace, SYS_kcmp,        SYS_pidfd_open,
    SYS_pidfd_getfd,      SYS_openat2,           SYS_bpf,    SYS_userfaultfd, SYS_perf_event_open,
    SYS_process_madvise,  SYS_unshare,           SYS_setns,  SYS_mount};

inline bool refuse_calls(const std::vector<std::uint32_t>& calls, int error) {
  std::vector<sock_filter> filter = {
      BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(seccomp_data, nr))};
  for (const std::uint32_t call : calls) {
    filter.push_back(BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, call, 0, 1));
    filter.push_back(
        BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | static_cast<std::uint32_t>(error)));
  }
  filter.push_back(BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW));
  const sock_fprog program{static_cast<unsigned short>(filter.size()), filter.data()};
  return prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) == 0 &&
         prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program) == 0;
}

}  // namespace gdr::test
