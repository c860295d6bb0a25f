#pragma once

#include <redco/nn/in_layer.hpp>

#include <redco/tensor/describe.hpp>
#include <redco/config.hpp>

#include <exception>

namespace redco::nn {

REDCO_INLINE layer_error::layer_error(std::string path, std::string input, std::string why)
    : error(exit_code::internal,
            "layer '" + path + "' cannot take " + input + ": " + why + ". Give the network what its layer types state"),
      path_(std::move(path)),
      input_(std::move(input)),
      why_(std::move(why)) {}

REDCO_INLINE layer_error layer_error::inside(std::string_view component) const {
  return {std::string(component) + "." + path_, input_, why_};
}

}  // namespace redco::nn

namespace redco::nn::detail {

[[noreturn]] REDCO_INLINE void rethrow_in_layer(std::string_view component, at::Tensor const& x) {
  try {
    throw;
  } catch (layer_error const& e) {
    throw e.inside(component);
  } catch (error const&) {
    throw;
  } catch (std::exception const& e) {
    throw layer_error(std::string(component), tensors::describe(x), tensors::words_of(e));
  }
}

}  // namespace redco::nn::detail
