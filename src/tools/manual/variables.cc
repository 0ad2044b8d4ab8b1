#include "manual/variables.h"

#include <algorithm>

namespace gdr::manual {
namespace {

std::vector<Variable> devices() {
  return {
      {"GDR_SOFT_DEVICES", "NAMES", Concern::kDevices,
       "Names of the software NICs, such as mlx5_0,mlx5_3; each may have /mac=, /ip=, /speed= and "
       "/pci=",
       "soft0,soft1",
       "ip= is an address of this host, which other hosts can reach; without it the devices have "
       "loopback addresses. mac= is six pairs of hexadecimal digits. speed= is in Gb/s. pci= is a "
       "free place in the PCI tree, by which programs choose the NIC that is nearest to a GPU. If "
       "a program has device names written into it, give the software NICs those names.",
       "", "soft0/ip=10.0.0.1/speed=200,soft1/pci=17:00.0"},
      {"GDR_SOFT_GPUS", "COUNT[:SIZE]", Concern::kDevices,
       "Number and memory of the software GPUs, such as 4 or 4:16G", "2:8G", "", "", "4:16G"},
      {"GDR_SOFT_DMA_BUF", "udmabuf", Concern::kDevices,
       "The software GPU's dma-bufs are the kernel's own, which the driver of a real NIC may take",
       "",
       "It needs /dev/udmabuf. The other value, anonymous, is for tests: the dma-bufs then say "
       "nothing about their memory, as a real GPU driver's. Without the variable they show their "
       "memory to the software NIC."}};
}

std::vector<Variable> packets() {
  return {{"GDR_SOFT_PATH", "packets", Concern::kPackets,
           "Use packets also between processes of this host", "auto: only to other hosts", "",
           "gdr run --packets"},
          {"GDR_SOFT_FAULTS", "SPEC", Concern::kPackets,
           "Disturb outgoing packets on purpose, such as loss=0.01,reorder=0.02,seed=7", "",
           "loss=, duplicate=, reorder=, corrupt=, mark= (ECN, as a full router does) and "
           "damage= (wrong bytes that the ICRC does not show) are shares from 0 to 1; delay= is a "
           "time such as 100us; seed= repeats a run.",
           "gdr run --faults", "loss=0.01,corrupt=0.001,delay=100us,seed=7"},
          {"GDR_SOFT_PCAP", "FILE", Concern::kPackets, "Write every packet to FILE, for Wireshark",
           "", "", "gdr run --pcap"},
          {"GDR_SOFT_COUNTERS", "FILE", Concern::kPackets,
           "Count in FILE what became of packets; gdr counters prints it", "memory only",
           "Processes with the same file add to it. It must be a regular file of this account with "
           "one name.",
           "gdr run --counters"}};
}

std::vector<Variable> of_run() {
  return {{"GDR_PRESENCE", "WAY", Concern::kRun,
           "How programs find the software NIC in /dev and /sys: namespace, preload, none or auto",
           "auto: the first that can be had",
           "namespace gives the program a mount namespace of its own. preload loads a library that "
           "answers its calls for these paths.",
           "gdr run --presence"},
          {"GDR_OBSERVE", "0", Concern::kRun, "Do not observe the dma-bufs of real GPUs", "",
           "gdr run otherwise preloads a library that records which memory each exported dma-buf "
           "stands for, since the driver has no call that says so."}};
}

std::vector<Variable> of_tools() {
  return {{"NO_COLOR", "", Concern::kTools, "No colours in a terminal", "",
           "Any value but an empty one counts. --color wins over it.", "gdr --color never"},
          {"NCCL_DEBUG", "INFO", Concern::kTools,
           "gdr nccl run sets it for the program, unless you set it", ""},
          {"NCCL_DEBUG_SUBSYS", "LIST", Concern::kTools, "The same, with INIT,NET,ENV,GRAPH", ""},
          {"NCCL_DEBUG_FILE", "FILE", Concern::kTools, "The same, with a file in TMPDIR", ""},
          {"TMPDIR", "DIR", Concern::kTools,
           "Folder for files that are removed at the end, such as a log while it is read", "/tmp"},
          {"XDG_RUNTIME_DIR", "DIR", Concern::kTools,
           "Folder in which the processes of an account meet, and ports count", "/tmp/gdrkit-UID"}};
}

std::vector<Variable> not_for_users() {
  return {
      {"GDR_PRESENCE_ROOT", "DIR", Concern::kInternal,
       "Where the devices' files lie that the preloaded library shows", ""},
      {"GDR_PORT_COUNTERS", "DIR", Concern::kInternal, "Where the software NIC's ports count", ""},
      {"GDR_RUN_LEDGER", "FILE", Concern::kInternal,
       "Memory in which programs count what they do with RDMA, for gdr run's last line", ""},
      {"GDR_WATCH_LEDGER", "FILE", Concern::kInternal, "The same for gdr watch", ""},
      {"GDR_MPI_COUNTERS_FD", "NUMBER", Concern::kInternal,
       "Descriptor by which the program of gdr mpi run asks for counters", ""},
      {"GDR_FAULT", "NAME", Concern::kTests, "Breaks the data path on purpose", ""},
      {"GDR_KILL", "NAME:COUNT", Concern::kTests, "Ends a process at a point of its code", ""},
      {"GDR_STOP", "NAME:COUNT", Concern::kTests, "Stops a process at a point of its code", ""},
      {"GDR_TEST_COPY_THREADS", "COUNT", Concern::kTests,
       "Says how many threads carry what a GPU copies", ""}};
}

}  // namespace

const std::vector<Variable>& all_variables() {
  static const std::vector<Variable> variables = [] {
    std::vector<Variable> all;
    for (const auto part : {devices, packets, of_run, of_tools, not_for_users}) {
      for (const Variable& variable : part()) all.push_back(variable);
    }
    return all;
  }();
  return variables;
}

const Variable* find_variable(std::string_view name) {
  const std::vector<Variable>& all = all_variables();
  const auto found =
      std::find_if(all.begin(), all.end(), [&](const Variable& one) { return name == one.name; });
  return found == all.end() ? nullptr : &*found;
}

std::string assignment_of(const Variable& variable) {
  const std::string name = variable.name, value = variable.value;
  return value.empty() ? name : name + "=" + value;
}

std::string brief_of(const Variable& variable) {
  const std::string fallback = variable.fallback;
  return variable.brief + (fallback.empty() ? "" : " (default: " + fallback + ")");
}

const std::vector<ConcernText>& all_concerns() {
  static const std::vector<ConcernText> concerns = {
      {Concern::kDevices, "Devices",
       "Which software NICs and GPUs there are. With a wrong value gdr names it in one line and "
       "does not start."},
      {Concern::kPackets, "Packets",
       "What the software NIC does with packets. An option of gdr run wins over its variable."},
      {Concern::kRun, "Starting a program", "How gdr run starts a program."},
      {Concern::kTools, "The program gdr", "What gdr itself reads or sets."},
      {Concern::kInternal, "Set by gdr",
       "For the libraries that gdr loads into programs. Do not set them."},
      {Concern::kTests, "Tests",
       "These exist only in builds for gdrkit's own tests; elsewhere they mean nothing."}};
  return concerns;
}

}  // namespace gdr::manual
