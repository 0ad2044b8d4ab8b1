// Likely causes in order, and the next command: what people found behind each symptom.
#include <infiniband/verbs.h>

#include "proof/diagnosis.h"

namespace gdr::proof {
namespace {

std::string counters_command(const Circumstances& around) {
  return "grep -r . /sys/class/infiniband/" + around.far + "/ports/*/counters/port_rcv_packets";
}

std::string stand_in_bug() {
  return "both ends of this path are stand-ins: this is a fault of gdrkit or of its build, not of "
         "your hardware";
}

void add_gpu_path_causes(Advice& advice, const Circumstances& around) {
  if (!around.device_memory) return;
  if (around.host_works) {
    advice.causes.push_back(
        "the same transfer between host buffers is right, so the path from NIC to GPU is at fault: "
        "ACS redirection or the IOMMU sends the NIC's accesses elsewhere");
    advice.causes.push_back(around.registration == Registration::kDmaBuf
                                ? "the dma-buf maps other pages than the GPU address names"
                                : "the peer-memory module is of another build than the GPU driver");
  } else {
    advice.causes.push_back(
        "transfers between host buffers fail as well: the GPU is not the cause");
  }
}

// Every call succeeded, and nothing came: the counters tell which half of the causes is left.
void add_raw_causes(Advice& advice, const Circumstances& around) {
  const bool arrived = around.counters_known && around.receiver_moved;
  const bool stayed_away = around.counters_known && !around.receiver_moved;
  if (stayed_away) {
    advice.causes.push_back("the counters of " + around.far +
                            " did not move: no cable between the ports, the link is down, or a "
                            "switch between them does not know the MAC address");
  } else if (arrived) {
    advice.causes.push_back("frames reached " + around.far +
                            " (its counters moved): no flow rule matched, so the MAC, IPv4 "
                            "address or UDP port in the rule belongs to the other port");
  } else {
    advice.causes.push_back(
        "no flow match: the destination MAC or IPv4 address of the frame belongs to the other "
        "port, or to none");
  }
  if (around.soft_nic) return;  // they are cabled, and each process has its own rules
  if (!arrived) {
    advice.causes.push_back("no cable or switch between " + around.near + " and " + around.far +
                            ", or a VLAN tag is needed");
  }
  if (!stayed_away) {
    advice.causes.push_back("another program's flow rule takes these frames first");
  }
}

// Success was reported, and the memory holds what it held before.
void add_vanished_cause(Advice& advice, const Circumstances& around) {
  if (!around.counters_known || around.receiver_moved || around.same_nic) return;
  advice.causes.push_back("the counters of " + around.far +
                          " did not move: its address belongs to the other port, and the bytes "
                          "went there");
}

void add_retry_causes(Advice& advice, const Circumstances& around) {
  if (around.ethernet && !around.same_nic && !around.soft_nic) {
    advice.causes.push_back(
        "both ports belong to this host, so the kernel's own route resolves the peer to this host "
        "itself and the packets loop inside " +
        around.near +
        ": prove each NIC against itself, and "
        "the way between them with raw frames");
  }
  if (around.soft_nic) {
    advice.causes.push_back(
        "the two processes of the software NIC cannot meet: each has to see the other in /proc and "
        "be allowed to debug it (one account, one process namespace, a /proc that hides nothing)");
  }
  advice.causes.push_back(
      "the GID is of the wrong kind or its address is not reachable: RoCE v2 "
      "with an IPv4 address is what works across routers");
  advice.causes.push_back("no link, or a firewall drops UDP port 4791 on the way");
}

void add_refusal_cause(Advice& advice, const Observation& seen) {
  const int code = seen.refused ? seen.refused->code : 0;
  if (code == ECONNRESET || code == EPIPE) {
    advice.causes.push_back(
        "the RDMA or the CUDA library, or a provider of it, crashed: look into "
        "the core dump, and for its release's known faults");
  } else if (code == ETIMEDOUT) {
    advice.causes.push_back(
        "the RDMA or the CUDA library hangs in a call: the driver waits for a "
        "device that does not answer");
  } else {
    advice.causes.push_back("the RDMA or the CUDA library refused a call that the proof needs");
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
          "the local key does not cover the buffer: the registration was "
          "invalidated, as when its memory was freed");
      break;
    case IBV_WC_REM_ACCESS_ERR:
    case IBV_WC_REM_OP_ERR:
      advice.causes.push_back(
          "the target NIC refused the access, or could not reach the memory "
          "behind its key");
      break;
    default:
      advice.causes.push_back("see the NIC's log: dmesg names the vendor error");
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
            "the link between the ports carries nothing, or the address belongs "
            "to the other port");
        add_retry_causes(advice, around);
      }
      break;
    case Symptom::kDataWithoutCompletion:
      advice.causes.push_back(
          "completions are lost: the driver's and the library's releases do not "
          "belong together, or interrupts are not delivered");
      break;
    case Symptom::kWrongMetadata:
      advice.causes.push_back(
          "the NIC's firmware or the provider library reports completions wrongly");
      break;
    case Symptom::kDisplaced:
      advice.causes.push_back(
          "the NIC's page table for this memory is off by whole pages: page size "
          "taken as 4 KiB for 64 KiB pages, or the reverse");
      add_gpu_path_causes(advice, around);
      break;
    case Symptom::kBitFlipped:
      advice.causes.push_back(
          "a hardware error on the way: look for corrected PCIe and memory errors");
      break;
    case Symptom::kStale:
      advice.causes.push_back("the NIC read before the GPU's own writes had reached its memory");
      add_gpu_path_causes(advice, around);
      break;
    case Symptom::kGuardOverwritten:
      advice.causes.push_back(
          "more was written than was asked for: padding of short writes, or an "
          "offset wrong by part of a page");
      break;
    default:
      if (symptom == Symptom::kCompletionWithoutData) add_vanished_cause(advice, around);
      advice.causes.push_back(
          "the completion came before the data was visible, or it went elsewhere");
      add_gpu_path_causes(advice, around);
  }
  if (around.soft_nic && (around.soft_gpu || !around.device_memory)) {
    advice.causes.insert(advice.causes.begin(), stand_in_bug());
    advice.next = "./test";
  } else if (around.soft_nic) {
    advice.causes.insert(advice.causes.begin(),
                         "the NIC is a stand-in: the fault lies in it or in the GPU's driver");
    advice.next = "gdr prove --soft";
  } else if (raw || symptom == Symptom::kNothingArrived) {
    advice.next = counters_command(around);
  } else if (symptom == Symptom::kBitFlipped) {
    advice.next = "sudo dmesg | grep -iE 'AER|Xid|ECC'";
  } else {
    advice.next = "sudo lspci -vvv | grep -E '^[0-9a-f]|ACSCtl'; cat /proc/cmdline";
  }
  return advice;
}

// What NVIDIA's driver answers to an importer that it does not take; the kernel's own number, which
// no header of user space has.
constexpr int kKernelNotSupported = 524;

std::string decode_registration(Registration registration, const CreateBuffer::Reply& reply) {
  if (reply.stage == RegistrationStage::kDone) return reply.detail;
  const std::string& detail = reply.detail;
  if (reply.stage == RegistrationStage::kAllocate) return detail + ": the memory could not be had";
  if (reply.stage == RegistrationStage::kExport) {
    return detail +
           ": the GPU driver exports no dma-buf (open kernel modules 515 or newer, CUDA 11.7 "
           "and a data-centre or workstation GPU needed)";
  }
  switch (reply.code) {
    case EFAULT:
      return registration == Registration::kDmaBuf
                 ? detail + ": the descriptor's memory cannot be mapped for the NIC"
                 : detail +
                       ": no peer-memory client knows this address; sudo gdr fix peer-memory "
                       "--apply";
    case EOPNOTSUPP:
    case EPROTONOSUPPORT:
      return detail +
             ": the RDMA stack has no dma-buf for this NIC (kernel 5.12 or newer and a "
             "driver that takes it needed)";
    case kKernelNotSupported:
      return detail +
             ": the GPU driver refuses this NIC: it takes PCI devices with peer-to-peer only";
    case ENOMEM:
      return detail + ": the locked-memory limit (ulimit -l) or the GPU's BAR1 window is too small";
    case EPERM:
    case EACCES:
      return detail + ": not permitted; the locked-memory limit or the container forbids it";
    case EBADF:
      return detail + ": the library takes dma-bufs, but not this descriptor";
    case EINVAL:
      return detail + ": the driver refuses this range or these access rights";
    default:
      return detail;
  }
}

}  // namespace gdr::proof
