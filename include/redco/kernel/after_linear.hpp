#pragma once

namespace redco::kernel {

/// An activation after a linear map that can be one node of autograd with the map: its derivative
/// is made from its result.
enum class after_linear : unsigned char { nothing, relu, tanh };

}  // namespace redco::kernel
