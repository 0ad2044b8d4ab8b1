#include "doctor/container.h"

#include <unistd.h>

#include <algorithm>

#include "base/environment.h"
#include "doctor/checks/process/capabilities.h"
#include "doctor/checks/process/limits.h"

namespace gdr::doctor {
namespace {

using Fact = ContainerView::Fact;

// Who started it, by what each leaves behind.
std::string runtime_of(const Host& host) {
  const host::Files& files = host.files;
  std::string found;
  const auto add = [&](const std::string& text) { found += (found.empty() ? "" : ", ") + text; };
  if (files.exists(".dockerenv")) add("docker (/.dockerenv)");
  if (files.exists("run/.containerenv")) add("podman (/run/.containerenv)");
  if (files.exists("var/run/secrets/kubernetes.io") || host.environment.contains("KUBERNETES_PORT"))
    add("Kubernetes");
  if (files.exists("singularity") || files.exists(".singularity.d")) add("Apptainer");
  const std::string group = files.line("proc/self/cgroup");
  for (const char* word : {"docker", "kubepods", "libpod", "slurm", "lxc"}) {
    if (group.find(word) != std::string::npos) add(std::string("control group of ") + word);
  }
  return found;
}

std::string access_text(const Host& host, const std::string& path) {
  if (!host.is_live()) return "";
  const std::string place = "/" + path;
  if (access(place.c_str(), R_OK | W_OK) == 0) return "";
  return access(place.c_str(), R_OK) == 0 ? " (read only)" : " (denied)";
}

// "uverbs0, uverbs1 (denied), rdma_cm"
std::string nodes_in(const Host& host, const std::string& folder, const std::string& prefix) {
  std::string text;
  for (const std::string& name : host.files.entries(folder)) {
    if (name.rfind(prefix, 0) != 0) continue;
    std::string node = name;
    node += access_text(host, std::string(folder).append("/").append(name));
    text += (text.empty() ? "" : ", ") + node;
  }
  return text.empty() ? "none" : text;
}

std::string capabilities_text(const Host& host) {
  const auto mask = effective_capabilities(host.files);
  if (!mask) return "not shown";
  std::string text;
  const std::pair<unsigned, const char*> named[] = {
      {kCapIpcLock, "CAP_IPC_LOCK"}, {kCapNetRaw, "CAP_NET_RAW"}, {kCapSysAdmin, "CAP_SYS_ADMIN"}};
  for (const auto& [number, name] : named) {
    text += (text.empty() ? "" : ", ") + std::string(name) +
            (has_capability(*mask, number) ? " yes" : " no");
  }
  return text;
}

// "tmpfs /dev/shm … size=65536k": what NCCL and MPI share memory in.
std::string shared_memory_text(const Host& host) {
  for (const std::string& line : host.files.lines_with("proc/self/mountinfo", " /dev/shm ")) {
    const auto size = line.find("size=");
    if (size == std::string::npos) return "half of the host's memory";
    const auto end = line.find_first_of(", ", size);
    return line.substr(size + 5, end == std::string::npos ? end : end - size - 5);
  }
  return "not a mount of its own";
}

// "mlx5_0 hca_handle=2 hca_object=max", of the RDMA controller.
std::string rdma_limit_text(const Host& host) {
  const std::string line = host.files.line("sys/fs/cgroup/rdma.max");
  return line.empty() ? "none" : line;
}

std::string sys_text(const Host& host) {
  for (const std::string& line : host.files.lines_with("proc/self/mountinfo", " /sys ")) {
    return line.find(" ro,") != std::string::npos ? "mounted, read only" : "mounted";
  }
  return host.files.exists("sys/bus/pci") ? "there" : "not mounted";
}

std::string count_text(std::size_t count, const std::string& what) {
  return std::to_string(count) + " " + what + (count == 1 ? "" : "s") + " in /sys";
}

std::vector<Fact> facts_of(const Host& host, const std::string& runtime) {
  const host::Inventory& inventory = host.inventory;
  const std::string namespaces = host.files.link_name("proc/self/ns/net");
  const std::string mode = host.files.line("sys/module/ib_core/parameters/netns_mode");
  return {
      {"Container", runtime.empty() ? "none detected" : runtime},
      {"Capabilities", capabilities_text(host)},
      {"Locked memory", read_memory_limit(host.files, "proc/self").text()},
      {"GPUs", nodes_in(host, "dev", "nvidia") + "; " + count_text(inventory.gpus.size(), "GPU")},
      {"NICs", nodes_in(host, "dev/infiniband", "uverbs") + "; rdma_cm " +
                   (host.files.exists("dev/infiniband/rdma_cm") ? "there" : "absent") + "; " +
                   count_text(inventory.nics.size(), "RDMA NIC")},
      {"/dev/shm", shared_memory_text(host)},
      {"/sys", sys_text(host)},
      {"Network namespace", (namespaces.empty() ? std::string("not shown") : namespaces) +
                                (mode.empty()  ? ""
                                 : mode == "N" ? "; each NIC belongs to one namespace"
                                               : "; all namespaces share the NICs")},
      {"RDMA object limit", rdma_limit_text(host)},
      {"User", host.is_live() ? "uid " + std::to_string(getuid()) : "not shown"}};
}

}  // namespace

bool is_container(const Host& host) {
  const std::string runtime = runtime_of(host);
  return !runtime.empty() && runtime != "control group of slurm";
}

ContainerView look_at_container(const Host& host) {
  ContainerView view;
  const std::string runtime = runtime_of(host);
  view.in_container = !runtime.empty();
  view.facts = facts_of(host, runtime);
  view.start_with = {
      {"docker, podman",
       "--gpus all --device /dev/infiniband --ulimit memlock=-1 --shm-size 8g "
       "--network host"},
      {"Kubernetes",
       "resources nvidia.com/gpu and one of an RDMA device plugin; as root: securityContext "
       "capabilities: {add: [\"IPC_LOCK\"]}; as another user: LimitMEMLOCK=infinity for containerd "
       "on the node"},
      {"Slurm",
       "PropagateResourceLimitsExcept=MEMLOCK in slurm.conf, and LimitMEMLOCK=infinity "
       "for slurmd"},
      {"Apptainer", "--nv; devices and limits are the caller's"}};
  return view;
}

}  // namespace gdr::doctor
