#pragma once

#include <redco/pretrained/generate_options.hpp>

namespace redco::generation::detail {

/// Throws `error` with exit code 64 if an option is out of range; the message has the option's name
/// and range.
void check_options(generate_options const& options);
void check_options(beam_options const& options);

}  // namespace redco::generation::detail

#include <redco/config.hpp>
#ifndef REDCO_COMPILED
#include <redco/generate/detail/check_options.inl.hpp>
#endif
