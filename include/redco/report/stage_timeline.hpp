#pragma once

#include <redco/cost/machine.hpp>
#include <redco/cost/setup.hpp>
#include <redco/fact/program.hpp>
#include <redco/optimizer/state_slots.hpp>

#include <string>

namespace redco::report {

/// Returns a table for each pipeline stage of a run. Its lines are the stage's waits, the tensors
/// that it receives and sends, and the forwards and backwards of its micro-batches. A computation
/// has the bytes that a rank holds when it holds most; the largest total of a stage is marked.
/// Times are seconds of the machine `on`. If `on` is null, they are shares of the pipeline's time
/// in which only operations count. `facts` is the model's program for a micro-batch. Throws the
/// errors of cost::stage_costs() and cost::pipeline_course_of().
std::string stage_timeline_text(fact::program const& facts, optimizer::demands const& demands, cost::setup const& run,
                                cost::machine const* on);

}  // namespace redco::report

#include <redco/config.hpp>
#ifndef REDCO_COMPILED
#include <redco/report/stage_timeline.inl.hpp>
#endif
