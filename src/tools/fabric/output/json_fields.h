// The names of everything in the JSON documents, once for writing and reading.
//
// A Visitor has value(name, field) for text, bool, whole numbers and enumerations; number() for
// amounts, which are never negative; and list() for a vector of structures, text or whole numbers.
// Measurements, which are many, are lists of their own: measurement_row.h.
#pragma once

#include <concepts>
#include <type_traits>

#include "fabric/report.h"

namespace gdr::fabric {

// T is U, constant where it is written and not where it is read.
template <typename T, typename U>
concept Is = std::same_as<std::remove_const_t<T>, U>;

template <typename Visitor, Is<Rail> T>
void visit_fields(Visitor& v, T& x) {
  v.value("nic", x.nic);
  v.value("gpu", x.gpu);
  v.value("nic_is_stand_in", x.software_nic);
  v.value("gpu_is_stand_in", x.software_gpu);
  v.number("link_bits_per_second", x.link_bits_per_second);
  v.value("gid", x.gid);
  v.value("leaf", x.leaf);
  v.value("leaf_port", x.leaf_port);
}

template <typename Visitor, Is<Host> T>
void visit_fields(Visitor& v, T& x) {
  v.value("name", x.name);
  v.value("state", x.state);
  v.value("problem", x.problem);
  v.value("lost_in_round", x.lost_in);
  v.value("leaf", x.leaf);
  v.list("rails", x.rails);
}

template <typename Visitor, Is<Incident> T>
void visit_fields(Visitor& v, T& x) {
  v.value("from", x.from);
  v.value("to", x.to);
  v.value("round", x.round);
  v.value("rail", x.rail);
  v.value("text", x.text);
}

template <typename Visitor, Is<FleetFigure> T>
void visit_fields(Visitor& v, T& x) {
  v.number("median", x.median);
  v.number("deviation", x.deviation);
  v.number("least", x.least);
  v.number("most", x.most);
}

template <typename Visitor, Is<FleetRail> T>
void visit_fields(Visitor& v, T& x) {
  v.part("bandwidth_bytes_per_second", x.bandwidth);
  v.part("latency_ns", x.latency);
}

template <typename Visitor, Is<Finding> T>
void visit_fields(Visitor& v, T& x) {
  v.value("fault", x.fault);
  v.value("culprit", x.culprit);
  v.list("hosts", x.hosts);
  v.value("rail", x.rail);
  v.value("leaf", x.leaf);
  v.value("is_confirmed", x.is_confirmed);
  v.number("share", x.share);
  v.value("text", x.text);
  v.list("evidence", x.evidence);
  v.value("doctor", x.doctor);
  v.value("next", x.next);
}

// What is known of a run beside what it found. `version` and `date` of the run: the envelope's are
// those of whoever wrote the document.
template <typename Visitor, Is<Report> T>
void visit_run(Visitor& v, T& x) {
  v.value("collector", x.collector);
  v.value("launcher", x.launcher);
  v.value("run_date", x.date);
  v.value("run_version", x.version);
  v.value("processes_as_hosts", x.processes_as_hosts);
  v.value("pattern", x.pattern);
  v.value("isolate", x.isolate);
  v.value("is_sampled", x.is_sampled);
  v.value("rounds_planned", x.rounds_planned);
  v.value("rounds_done", x.rounds_done);
  v.value("retest_rounds", x.retest_rounds);
  v.value("proof_bytes", x.proof_bytes);
  v.value("message_bytes", x.message_bytes);
  v.number("seconds", x.seconds);
  v.value("is_interrupted", x.is_interrupted);
  v.value("topology", x.topology);
  v.list("rails", x.rails);
  v.list("notes", x.notes);
}

template <typename Visitor, Is<Report> T>
void visit_fields(Visitor& v, T& x) {
  visit_run(v, x);
  v.list("hosts", x.hosts);
  v.list("fleet", x.fleet);
  v.list("findings", x.findings);
  v.list("incidents", x.incidents);
}

// The last value of each enumeration that documents name.
template <typename Enum>
constexpr Enum kLast;
template <>
inline constexpr Fault kLast<Fault> = Fault::kHighLatency;
template <>
inline constexpr Culprit kLast<Culprit> = Culprit::kPair;
template <>
inline constexpr HostState kLast<HostState> = HostState::kHung;
template <>
inline constexpr Outcome kLast<Outcome> = Outcome::kAbandoned;
template <>
inline constexpr Pattern kLast<Pattern> = Pattern::kByLeaf;

}  // namespace gdr::fabric
