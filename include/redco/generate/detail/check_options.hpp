#pragma once

#include <redco/pretrained/beam_options.hpp>
#include <redco/pretrained/generate_options.hpp>

namespace redco::detail {

/// Exit code 64 with the name and the legal range of the first option that is outside of it.
void check_options(generate_options const& options);
void check_options(beam_options const& options);

}  // namespace redco::detail

#ifndef REDCO_COMPILED
#include <redco/generate/detail/check_options.inl.hpp>
#endif
