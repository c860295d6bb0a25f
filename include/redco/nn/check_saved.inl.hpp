#pragma once

#include <redco/nn/check_saved.hpp>

#include <redco/cost/simulation.hpp>
#include <redco/diag/error.hpp>
#include <redco/config.hpp>

#include <string>

namespace redco::detail {

REDCO_INLINE std::int64_t declared_bytes(fact::program const& facts, setup const& run) {
  return simulation(facts, run).activations();
}

inline std::string shape_of(at::Tensor const& x) {
  std::string shape;
  for (std::int64_t const extent : x.sizes()) shape += (shape.empty() ? "[" : ", ") + std::to_string(extent);
  return shape + "]";
}

REDCO_INLINE void refuse_saved(std::int64_t declared, std::int64_t kept, at::Tensor const& input,
                               at::Tensor const& source) {
  throw error(exit_code::internal,
              "the layers declare that the network keeps " + std::to_string(declared) +
                  " bytes for backward of an input " + shape_of(input) +
                  (source.defined() ? " and a source " + shape_of(source) : "") + ", autograd keeps " +
                  std::to_string(kept) +
                  "; the facts() of a layer of yours must keep() what its module saves, no more and no less");
}

REDCO_INLINE void refuse_opaque() {
  throw error(
      exit_code::usage,
      "--check-saved compares what layers declare, and an opaque layer declares nothing; leave the option out, or "
      "write a layer type with facts()");
}

}  // namespace redco::detail
