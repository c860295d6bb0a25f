#pragma once

namespace redco::kernel {

/// An activation function after a linear layer. Layer and activation can form one autograd node,
/// because the derivative of these functions is computed from their result.
enum class after_linear : unsigned char { nothing, relu, tanh };

}  // namespace redco::kernel
