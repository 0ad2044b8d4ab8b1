#include "cli/perftest_options.h"

#include <algorithm>

namespace gdr::cli {
namespace {

using Kind = PerftestOption::Kind;

// As of perftest 6.29.
constexpr PerftestOption kOptions[] = {
    {'a', "all", "", Kind::kFixed, "--sizes 2-8M"},
    {'b', "bidirectional", "", Kind::kFixed, "--both-ways"},
    {'c', "connection", "TYPE", Kind::kValue, "--transport"},
    {'d', "ib-dev", "DEVICE", Kind::kDevice, "--nic"},
    {'D', "", "SECONDS", Kind::kValue, "--duration"},
    {'e', "", "", Kind::kFixed, "--events"},
    {'f', "margin", "SECONDS", Kind::kValue, "--warm-up"},
    {'F', "CPU-freq", "", Kind::kNotNeeded, "the clock does not follow the processor's speed"},
    {'i', "ib-port", "PORT", Kind::kPort, "--nic NAME:PORT"},
    {'I', "inline_size", "BYTES", Kind::kValue, "--inline"},
    {'l', "post_list", "N", Kind::kValue, "--batch"},
    {'m', "", "BYTES", Kind::kValue, "--mtu"},
    {'n', "iters", "N", Kind::kValue, "--iterations"},
    {'N', "noPeak", "", Kind::kNotNeeded, "the peak costs nothing while it measures"},
    {'p', "", "PORT", Kind::kValue, "--port"},
    {'q', "qp", "N", Kind::kValue, "--queue-pairs"},
    {'Q', "cq-mod", "N", Kind::kValue, "--signal-every"},
    {'R', "rdma_cm", "", Kind::kFixed, "--rdma-cm"},
    {'s', "size", "BYTES", Kind::kValue, "--sizes"},
    {'S', "sl", "N", Kind::kValue, "--service-level"},
    {'t', "tx-depth", "N", Kind::kValue, "--depth"},
    {'T', "tos", "N", Kind::kValue, "--traffic-class"},
    {'x', "", "INDEX", Kind::kValue, "--gid-index"},
    {'\0', "tclass", "N", Kind::kValue, "--traffic-class"},
    {'\0', "use_cuda", "GPU", Kind::kOptional, "--memory gpu --gpu"},
    {'\0', "use_cuda_bus_id", "ADDRESS", Kind::kValue, "--memory gpu --gpu"},
    {'\0', "use_cuda_dmabuf", "", Kind::kFixed, "--registration dma-buf"},
    {'\0', "use_hugepages", "", Kind::kFixed, "--huge-pages"},
    {'\0', "use-srq", "", Kind::kFixed, "--srq"},
    {'\0', "write_with_imm", "", Kind::kFixed, "--operation write-imm"},
    {'\0', "data_validation", "", Kind::kFixed, "--check"},
    {'\0', "source_ip", "ADDRESS", Kind::kValue, "--listen"},
    {'\0', "out_json", "", Kind::kFixed, "--report perftest_out.json"},
    {'\0', "out_json_file", "FILE", Kind::kValue, "--report"},
    {'\0', "report_gbits", "", Kind::kNotNeeded,
     "the table has GB/s, the documents bytes per second"},
    {'\0', "perform_warm_up", "", Kind::kNotNeeded, "there is always a warm-up"},
    {'\0', "cpu_util", "", Kind::kNotNeeded, "the documents have cores_near and cores_far"},
    {'\0', "disable_pcie_relaxed", "", Kind::kNotNeeded, "regions never ask for relaxed ordering"},
    {'g', "mcg", "", Kind::kRefused, "no multicast"},
    {'M', "MGID", "GID", Kind::kRefused, "no multicast"},
    {'H', "report-histogram", "", Kind::kRefused, "the document of --json has the histogram"},
    {'L', "hop_limit", "N", Kind::kRefused, "the hop limit is 64"},
    {'o', "outs", "N", Kind::kRefused, "outstanding reads are 16, or what the device has"},
    {'O', "dualport", "", Kind::kRefused, "name both ports: --nic A,B"},
    {'r', "rx-depth", "N", Kind::kRefused, "512 receives, each posted again as it is taken"},
    {'u', "qp-timeout", "N", Kind::kRefused, "the timeout is 14"},
    {'U', "report-unsorted", "", Kind::kRefused, "the document of --json has the samples' spread"},
    {'V', "", "", Kind::kRefused, "type 'gdr --version'"},
    {'w', "limit_bw", "N", Kind::kRefused, "compare two runs: gdr perf compare"},
    {'W', "report-counters", "LIST", Kind::kRefused, "see gdr counters for the software NIC"},
    {'X', "vector", "N", Kind::kRefused, "the completion vector is 0"},
    {'y', "limit_msgrate", "N", Kind::kRefused, "compare two runs: gdr perf compare"},
    {'z', "com_rdma_cm", "", Kind::kRefused, "the two sides talk over TCP"},
    {'\0', "run_infinitely", "", Kind::kRefused, "--duration takes up to a day, such as 12h"},
};

template <typename Is>
const PerftestOption* find(Is is) {
  const auto* found = std::find_if(std::begin(kOptions), std::end(kOptions), is);
  return found == std::end(kOptions) ? nullptr : found;
}

}  // namespace

std::span<const PerftestOption> perftest_options() { return kOptions; }

const PerftestOption* find_perftest_option(char letter) {
  return find([&](auto& one) { return letter != '\0' && one.letter == letter; });
}

const PerftestOption* find_perftest_option(std::string_view name) {
  return find([&](auto& one) { return !name.empty() && name == one.name; });
}

bool takes_value(const PerftestOption& option) { return *option.value != '\0'; }

}  // namespace gdr::cli
