#pragma once

#include <redco/layer/recurrent.hpp>

namespace redco {

/// A long short-term memory layer (Hochreiter and Schmidhuber 1997), like a one-layer
/// torch::nn::LSTM with batch_first. The rows of "weight_ih" [4 Hidden, In] and "weight_hh" [4
/// Hidden, Hidden] are the input, forget, cell and output gates.
template <auto In, auto Hidden>
struct lstm : layers::recurrent_layer<In, Hidden, 4, true> {};

}  // namespace redco
