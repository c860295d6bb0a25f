// torch
// Cross-attention reads encoder states, which a decoder without an encoder does not have.
#include <redco/nn/network.hpp>
#include <redco/nn/nn.hpp>

struct decoder {
#if REDCO_ACCEPT
  using net = redco::layers::encoder_decoder<redco::layers::replicated_linear<4, 4>, redco::cross_attention<4, 2>>;
#else  // expect: redco[L002]
  using net = redco::cross_attention<4, 2>;
#endif
  redco::no_config config;
};

at::Tensor decode(redco::bound_network<decoder> const& net, at::Tensor const& x) {
  return net(x, redco::encoder_input{x});
}
