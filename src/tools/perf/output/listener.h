// Listener: told what a run finds while it goes on, so that a person sees each row as it comes.
//
//   TextReport table(stdout, text::Style::of(stdout));
//   Progress progress(stderr, text::Style::of(stderr));
//   Listeners both({&progress, &table});  // in this order: progress clears its line first
#pragma once

#include <utility>
#include <vector>

#include "perf/report.h"

namespace gdr::perf {

// What is being measured now.
struct Running {
  std::size_t row = 0, rows = 0;  // from 0
  Load load;
  double seconds_left = 0;  // of the whole run, about; 0: not known
};

class Listener {
 public:
  virtual ~Listener() = default;
  // Once, before the first row: everything of the report but its rows and its end.
  virtual void on_side(const Report&) {}
  virtual void on_row(const Row&) {}
  virtual void on_end(const Report&) {}
  // As often as one likes, from the thread that calls the others.
  virtual void on_running(const Running&) {}
};

class Listeners : public Listener {
 public:
  explicit Listeners(std::vector<Listener*> listeners) : listeners_(std::move(listeners)) {}

  void on_side(const Report& report) override {
    for (Listener* listener : listeners_) listener->on_side(report);
  }
  void on_row(const Row& row) override {
    for (Listener* listener : listeners_) listener->on_row(row);
  }
  void on_end(const Report& report) override {
    for (Listener* listener : listeners_) listener->on_end(report);
  }
  void on_running(const Running& running) override {
    for (Listener* listener : listeners_) listener->on_running(running);
  }

 private:
  std::vector<Listener*> listeners_;
};

}  // namespace gdr::perf
