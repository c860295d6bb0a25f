#pragma once

#include <redco/pretrained/stored_names/swiglu_decoder.hpp>
#include <redco/model/llama.hpp>

namespace redco {

template <>
struct stored_names<llama> : swiglu_decoder_names {};
template <>
struct stored_names<llama_tied> : tied_swiglu_decoder_names {};

}  // namespace redco
