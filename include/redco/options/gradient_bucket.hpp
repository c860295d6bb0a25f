#pragma once

#include <redco/shape/mesh.hpp>

#include <cstdint>
#include <optional>

namespace redco::options {

/// Returns the number of bytes of gradients, a multiple of 8, that a run sums at once during
/// backward. Returns 0 if all gradients are summed after backward. `overlap`: the user's choice; if
/// empty, true if replicas are in several of the `hosts` processes. Throws `error` with exit code
/// 64 unless `mebibytes` is in (0, 1e6].
std::int64_t gradient_bucket(mesh const& on, int hosts, std::optional<bool> overlap, double mebibytes);

}  // namespace redco::options

#include <redco/config.hpp>
#ifndef REDCO_COMPILED
#include <redco/options/gradient_bucket.inl.hpp>
#endif
