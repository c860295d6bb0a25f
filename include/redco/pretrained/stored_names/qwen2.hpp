#pragma once

#include <redco/pretrained/stored_names/swiglu_decoder.hpp>
#include <redco/model/qwen2.hpp>

namespace redco {

template <>
struct stored_names<qwen2> : swiglu_decoder_names {};
template <>
struct stored_names<qwen2_tied> : tied_swiglu_decoder_names {};

}  // namespace redco
