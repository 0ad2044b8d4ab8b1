#include "fabric/worker/rail_thread.h"

namespace gdr::fabric::worker {

RailThread::RailThread(PlannedRail planned, participants::Libraries libraries, Settings settings,
                       Bell& bell)
    : planned_(std::move(planned)),
      libraries_(std::move(libraries)),
      settings_(std::move(settings)),
      bell_(bell),
      thread_([this] { run(); }) {}

RailThread::~RailThread() {
  lost_to_ = lost_from_ = true;
  bell_.ring([this] { ends_ = true; });
  thread_.join();
}

void RailThread::begin(const RailStep& step) {
  bell_.ring([&] {
    if (step.phase == Phase::kConnect) {
      part_ = step.part;
      lost_to_ = lost_from_ = false;
    }
    step_ = step;
    busy_ = true;
  });
}

void RailThread::abandon(HostIndex host) {
  if (!part_) return;
  if (part_->has_to && part_->to == host) lost_to_ = true;
  if (part_->has_from && part_->from == host) lost_from_ = true;
}

void RailThread::expect_nothing_of(HostIndex host) {
  if (part_ && part_->has_from && part_->from == host) lost_from_ = true;
}

Result<void> RailThread::open() {
  Result<std::unique_ptr<OpenRail>> rail = OpenRail::open(planned_, libraries_, settings_);
  if (!rail) return rail.error();
  rail_ = *std::move(rail);
  address_ = rail_->address();
  return {};
}

void RailThread::run() {
  Result<void> opened = open();
  bell_.ring([&] {
    if (!opened) problem_ = opened.error();
    busy_ = false;
  });
  for (;;) {
    std::optional<RailStep> step;
    bell_.wait([&] {
      if (step_) step.swap(step_);
      return step || ends_;
    });
    if (!step) break;
    carry_out(*step);
    bell_.ring([this] { busy_ = false; });
  }
  rail_.reset();
}

void RailThread::carry_out(const RailStep& step) {
  result_ = {};
  result_.rail = planned_.number;
  const Bounds bounds{step.deadline, &lost_to_, &lost_from_};
  switch (step.phase) {
    case Phase::kConnect:
      return step.part ? rail_->connect(step.round, *step.part, result_) : rail_->rest();
    case Phase::kProve:
      return rail_->prove(bounds, result_);
    case Phase::kLatency:
      return rail_->measure_latency(bounds, result_);
    case Phase::kBandwidth:
      return rail_->measure_bandwidth(bounds, result_);
  }
  result_.code = EINVAL;
  result_.problem = "unknown step " + std::to_string(static_cast<int>(step.phase));
}

}  // namespace gdr::fabric::worker
