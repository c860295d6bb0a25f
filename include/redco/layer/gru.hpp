#pragma once

#include <redco/layer/recurrent.hpp>

namespace redco {

/// A gated recurrent layer (Cho et al. 2014), like a one-layer torch::nn::GRU with batch_first. The
/// rows of "weight_ih" [3 Hidden, In] and "weight_hh" [3 Hidden, Hidden] are the reset, update and
/// new gates.
template <auto In, auto Hidden>
struct gru : layers::recurrent_layer<In, Hidden, 3, false> {};

}  // namespace redco
