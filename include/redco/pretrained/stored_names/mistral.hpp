#pragma once

#include <redco/pretrained/stored_names/swiglu_decoder.hpp>
#include <redco/model/mistral.hpp>

namespace redco {

template <>
struct stored_names<mistral> : swiglu_decoder_names {};
template <>
struct stored_names<mistral_tied> : tied_swiglu_decoder_names {};

}  // namespace redco
