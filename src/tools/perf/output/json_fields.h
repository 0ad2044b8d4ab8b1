// The names of everything in the JSON document, once for writing and reading.
//
// A Visitor has value(name, field) for text, bool, whole numbers, enumerations and places;
// amount() for what is never negative, number() for what may be; part() for a structure, maybe()
// for one that may be missing, list() for a vector of structures or text, amounts() for one of
// amounts, and histogram().
#pragma once

#include "perf/report.h"

namespace gdr::perf {

template <typename Visitor>
void visit_fields(Visitor& v, auto& x) requires requires {
  x.queue_pairs;
}
{
  std::remove_cvref_t<decltype(x)>::each_field(
      [&](const char* name, auto field, const char*) { v.value(name, x.*field); });
}

template <typename Visitor>
void visit_fields(Visitor& v, auto& x) requires requires {
  x.repetitions;
}
{
  v.amount("median", x.median);
  v.amount("least", x.least);
  v.amount("most", x.most);
  v.amount("spread", x.spread);
  v.amounts("repetitions", x.repetitions);
}

template <typename Visitor>
void visit_fields(Visitor& v, auto& x) requires requires {
  x.histogram;
}
{
  v.part("median_of_repetitions", x.median);
  v.amount("mean", x.mean);
  v.amount("least", x.least);
  v.amount("p50", x.p50);
  v.amount_if_known("p90", x.p90);
  v.amount_if_known("p99", x.p99);
  v.amount_if_known("p99_9", x.p999);
  v.amount_if_known("p99_99", x.p9999);
  v.amount("most", x.most);
  v.value("samples", x.samples);
  v.histogram("histogram", x.histogram, x.samples);
}

template <typename Visitor>
void visit_fields(Visitor& v, auto& x) requires requires {
  x.share_of_time;
}
{
  v.value("messages", x.messages);
  v.value("bytes", x.bytes);
  v.value("wrong", x.wrong);
  v.value("first_wrong", x.first);
  v.amount("share_of_time", x.share_of_time);
}

template <typename Visitor>
void visit_fields(Visitor& v, auto& x) requires requires {
  x.advice;
}
{
  v.value("what", x.what);
  v.amount("bytes_per_second", x.value);
  v.amount("share", x.share);
  v.value("advice", x.advice);
  v.value("check", x.check);
}

template <typename Visitor>
void visit_fields(Visitor& v, auto& x) requires requires {
  x.load;
}
{
  v.part("load", x.load);
  v.value("problem", x.problem);
  v.maybe("bandwidth_bytes_per_second", x.bandwidth);
  v.maybe("rate_messages_per_second", x.rate);
  v.maybe("latency_ns", x.latency);
  v.maybe("checked", x.checked);
  v.list("ports", x.ports);
  v.list("limits", x.limits);
  v.value("messages", x.messages);
  v.value("lost", x.lost);
  v.value("registered_bytes", x.registered_bytes);
  v.amount("set_up_seconds", x.set_up_seconds);
  v.amount("seconds", x.seconds);
  v.amount("cores_near", x.cores_near);
  v.amount("cores_far", x.cores_far);
  v.list("remarks", x.remarks);
}

template <typename Visitor>
void visit_fields(Visitor& v, auto& x) requires requires {
  x.near_port;
}
{
  v.value("near", x.near_port);
  v.value("far", x.far_port);
  v.amount("bandwidth_bytes_per_second", x.bandwidth);
  v.amount("rate_messages_per_second", x.rate);
  v.amount("share", x.share);
}

template <typename Visitor>
void visit_fields(Visitor& v, auto& x) requires requires {
  x.gid_index;
}
{
  v.value("nic", x.nic);
  v.value("port", x.number);
  v.value("netdev", x.netdev);
  v.value("gid_index", x.gid_index);
  v.value("gid", x.gid);
  v.value("path_mtu_bytes", x.path_mtu);
  v.amount("link_bits_per_second", x.link_bits_per_second);
}

template <typename Visitor>
void visit_fields(Visitor& v, auto& x) requires requires {
  x.processor;
}
{
  v.value("host", x.host);
  v.value("kernel", x.kernel);
  v.value("processor", x.processor);
  v.value("version", x.version);
  v.list("ports", x.ports);
  v.value("library", x.library);
  v.list("gpus", x.gpus);
  v.value("nic_is_stand_in", x.soft_nic);
  v.value("gpu_is_stand_in", x.soft_gpu);
}

template <typename Visitor>
void visit_fields(Visitor& v, auto& x) requires requires {
  x.ticks_per_second;
}
{
  v.amount("ticks_per_second", x.ticks_per_second);
  v.number("drift", x.drift);
  v.value("invariant", x.invariant);
}

template <typename Visitor>
void visit_fields(Visitor& v, auto& x) requires requires {
  x.rows;
}
{
  v.value("date", x.date);
  v.value("command", x.command);
  v.value("loopback", x.loopback);
  v.value("interrupted", x.interrupted);
  v.amount("seconds", x.seconds);
  v.part("clock", x.clock);
  v.part("near", x.near);
  v.part("far", x.far);
  v.list("rows", x.rows);
}

}  // namespace gdr::perf
