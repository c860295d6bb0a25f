#pragma once

#include <redco/model/qwen2.hpp>
#include <redco/model/stored_names/swiglu_decoder.hpp>

namespace redco {

template <>
struct stored_names<qwen2> : swiglu_decoder_names {};
template <>
struct stored_names<qwen2_tied> : tied_swiglu_decoder_names {};

}  // namespace redco
