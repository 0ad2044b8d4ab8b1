// Likely causes of each symptom, in order, and the next command.
#include <infiniband/verbs.h>

#include "proof/diagnosis.h"

namespace gdr::proof {
namespace {

text::Command counters_command(const Circumstances& around) {
  text::Command read("grep -r . /sys/class/infiniband/{}/ports/*/counters/port_rcv_packets",
                     around.far);
  return around.two_hosts ? read.with(text::Command("# on {}", around.far_host)) : read;
}

std::string stand_in_bug() {
  return "both ends are stand-ins, so this is a bug in gdrkit or in its build, not in your "
         "hardware";
}

void add_gpu_path_causes(Advice& advice, const Circumstances& around) {
  if (!around.device_memory) return;
  if (around.host_works) {
    advice.causes.push_back(
        "the same transfer between host buffers works, so the path from NIC to GPU is at fault: "
        "ACS "
        "redirection or the IOMMU sends the NIC's accesses elsewhere");
    advice.causes.push_back(
        around.registration == Registration::kDmaBuf
            ? "the dma-buf maps the wrong pages of GPU memory"
            : "the peer-memory module and the GPU driver are from different builds");
  } else {
    advice.causes.push_back("transfers between host buffers fail too, so the GPU is not the cause");
  }
}

// Every call succeeded but nothing arrived. The counters tell which causes remain.
void add_raw_causes(Advice& advice, const Circumstances& around) {
  const bool arrived = around.counters_known && around.receiver_moved;
  const bool stayed_away = around.counters_known && !around.receiver_moved;
  if (stayed_away) {
    advice.causes.push_back("the counters of " + around.far +
                            " did not move: there is no cable, the link is down, or a switch "
                            "does not know the MAC address");
  } else if (arrived) {
    advice.causes.push_back("frames reached " + around.far +
                            " (its counters moved), but no flow rule matched: the MAC, IPv4 "
                            "address or UDP port in the rule belongs to the other port");
  } else {
    advice.causes.push_back(
        "no flow rule matched: the frame's destination MAC or IPv4 address belongs to the other "
        "port, or to none");
  }
  if (around.soft_nic) return;  // software NICs are connected, and each process has its own rules
  if (!arrived) {
    advice.causes.push_back("no cable or switch between " + around.near + " and " + around.far +
                            ", or a VLAN tag is needed");
  }
  if (!stayed_away) {
    advice.causes.push_back("a flow rule of another program takes these frames first");
  }
}

// Success was reported, but the memory is unchanged.
void add_vanished_cause(Advice& advice, const Circumstances& around) {
  if (!around.counters_known || around.receiver_moved || around.same_nic) return;
  advice.causes.push_back("the counters of " + around.far +
                          " did not move: its address belongs to the other port, which got the "
                          "bytes");
}

void add_retry_causes(Advice& advice, const Circumstances& around) {
  if (around.ethernet && !around.same_nic && !around.soft_nic && !around.two_hosts) {
    advice.causes.push_back(
        "both ports belong to this host, so the kernel routes the peer's address to the host "
        "itself "
        "and packets loop inside " +
        around.near + "; prove each NIC against itself, and the link between them with raw frames");
  }
  if (around.soft_nic && !around.two_hosts) {
    advice.causes.push_back(
        "the two processes of the software NIC cannot meet: each must see the other in /proc and "
        "be "
        "allowed to debug it (same user, same PID namespace, no hidepid)");
  }
  advice.causes.push_back(
      "the GID has the wrong type or its address is unreachable; across routers use RoCE v2 with "
      "an IPv4 address");
  advice.causes.push_back("the link is down, or a firewall drops UDP port 4791");
}

void add_refusal_cause(Advice& advice, const Observation& seen) {
  const int code = seen.refused ? seen.refused->code : 0;
  if (code == ECONNRESET || code == EPIPE) {
    advice.causes.push_back(
        "the RDMA library, its provider or the CUDA library crashed: read the core dump, and look "
        "for known bugs of its release");
  } else if (code == ETIMEDOUT) {
    advice.causes.push_back(
        "a call into the RDMA or CUDA library hangs: the driver waits for a device that does not "
        "answer");
  } else {
    advice.causes.push_back("the RDMA or CUDA library refused a call that the proof needs");
  }
}

void advise_send_error(Advice& advice, const Observation& seen, const Circumstances& around) {
  switch (seen.sent->status) {
    case IBV_WC_RETRY_EXC_ERR:
      add_retry_causes(advice, around);
      break;
    case IBV_WC_RNR_RETRY_EXC_ERR:
      advice.causes.push_back("the receiver had no receive posted in time");
      break;
    case IBV_WC_LOC_PROT_ERR:
    case IBV_WC_LOC_ACCESS_ERR:
      advice.causes.push_back(
          "the local key does not cover the buffer: the registration became invalid, for example "
          "because its memory was freed");
      break;
    case IBV_WC_REM_ACCESS_ERR:
    case IBV_WC_REM_OP_ERR:
      advice.causes.push_back(
          "the target NIC refused the access, or cannot reach the memory of this key");
      break;
    default:
      advice.causes.push_back(
          "read the NIC driver's messages in dmesg; they explain the vendor error");
  }
  add_gpu_path_causes(advice, around);
}

}  // namespace

Advice advise(Symptom symptom, const Observation& seen, const Circumstances& around) {
  Advice advice;
  const bool raw = around.queue == QueueKind::kRaw;
  switch (symptom) {
    case Symptom::kNone:
      return advice;
    case Symptom::kRefused:
      add_refusal_cause(advice, seen);
      break;
    case Symptom::kSendError:
      advise_send_error(advice, seen, around);
      break;
    case Symptom::kReceiveError:
      advice.causes.push_back(
          "the receive buffer is shorter than the message, or its key is not valid");
      break;
    case Symptom::kNothingArrived:
      if (raw) {
        add_raw_causes(advice, around);
      } else {
        advice.causes.push_back(
            "the link between the ports is dead, or the address belongs to the other port");
        add_retry_causes(advice, around);
      }
      break;
    case Symptom::kDataWithoutCompletion:
      advice.causes.push_back(
          "completions are lost: driver and library releases do not match, or interrupts do not "
          "arrive");
      break;
    case Symptom::kWrongMetadata:
      advice.causes.push_back(
          "the NIC's firmware or the provider library reports wrong completions");
      break;
    case Symptom::kDisplaced:
      advice.causes.push_back(
          "the NIC's page table for this memory is off by whole pages: it mixes up 4 KiB and 64 "
          "KiB "
          "pages");
      add_gpu_path_causes(advice, around);
      break;
    case Symptom::kBitFlipped:
      advice.causes.push_back(
          "a hardware error on the path; look for corrected PCIe and memory errors");
      break;
    case Symptom::kStale:
      advice.causes.push_back("the NIC read before the GPU's own writes reached its memory");
      add_gpu_path_causes(advice, around);
      break;
    case Symptom::kGuardOverwritten:
      advice.causes.push_back(
          "more was written than requested: short writes were padded, or an offset is wrong by "
          "part "
          "of a page");
      break;
    default:
      if (symptom == Symptom::kCompletionWithoutData) add_vanished_cause(advice, around);
      advice.causes.push_back(
          "the completion came before the data was visible, or the data went elsewhere");
      add_gpu_path_causes(advice, around);
  }
  // Between hosts there is a network, which may be at fault.
  const bool by_network =
      around.two_hosts && (symptom == Symptom::kNothingArrived || symptom == Symptom::kSendError);
  if (around.soft_nic && (around.soft_gpu || !around.device_memory) && !by_network) {
    advice.causes.insert(advice.causes.begin(), stand_in_bug());
    advice.next = text::Command("./test");
  } else if (by_network && around.soft_nic) {
    advice.next = text::Command("gdr doctor");
  } else if (around.soft_nic) {
    advice.causes.insert(advice.causes.begin(),
                         "the NIC is a stand-in, so the fault is in it or in the GPU driver");
    advice.next = text::Command("gdr prove --soft");
  } else if (raw || symptom == Symptom::kNothingArrived) {
    advice.next = counters_command(around);
  } else if (symptom == Symptom::kBitFlipped) {
    advice.next = text::Command("sudo dmesg | grep -iE 'AER|Xid|ECC'");
  } else {
    advice.next = text::Command("sudo lspci -vvv | grep -E '^[0-9a-f]|ACSCtl'; cat /proc/cmdline");
  }
  return advice;
}

// NVIDIA's driver returns this to an importer that it refuses: ENOTSUPP, which user-space headers
// lack.
constexpr int kKernelNotSupported = 524;

std::string decode_registration(Registration registration, const CreateBuffer::Reply& reply) {
  if (reply.stage == RegistrationStage::kDone) return reply.detail;
  const std::string& detail = reply.detail;
  if (reply.stage == RegistrationStage::kAllocate) return detail + ": cannot allocate the memory";
  if (reply.stage == RegistrationStage::kExport) {
    return detail +
           ": the GPU driver exports no dma-buf (it needs open kernel modules 515 or newer, CUDA "
           "11.7 "
           "and a data-centre or workstation GPU)";
  }
  switch (reply.code) {
    case EFAULT:
      return registration == Registration::kDmaBuf
                 ? detail + ": the kernel cannot map this dma-buf for the NIC"
                 : detail +
                       ": no peer-memory module handles this address; sudo gdr fix peer-memory "
                       "--apply";
    case EOPNOTSUPP:
    case EPROTONOSUPPORT:
      return detail +
             ": the RDMA stack has no dma-buf for this NIC (it needs kernel 5.12 or newer, and a "
             "NIC "
             "driver with support)";
    case kKernelNotSupported:
      return detail +
             ": the GPU driver refuses this NIC; it accepts only PCI devices with peer-to-peer "
             "access";
    case ENOMEM:
      return detail + ": the locked-memory limit (ulimit -l) or the GPU's BAR1 window is too small";
    case EPERM:
    case EACCES:
      return detail + ": the locked-memory limit or the container forbids it";
    case EBADF:
      return detail + ": the library accepts dma-bufs, but not this descriptor";
    case EINVAL:
      return detail + ": the driver refuses this range or these access rights";
    default:
      return detail;
  }
}

}  // namespace gdr::proof
