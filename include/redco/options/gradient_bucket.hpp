#pragma once

#include <redco/shape/mesh.hpp>

#include <cstdint>
#include <optional>

namespace redco::options {

/// Bytes of gradients that a run sums at once while backward runs, a multiple of 8; 0: all, behind it. `overlap`: as asked for,
/// by default where replicas lie on several of `hosts` hosts (processes). Errors: exit code 64 for MiB that cannot be meant.
std::int64_t gradient_bucket(mesh const& on, int hosts, std::optional<bool> overlap, double mebibytes);

}  // namespace redco::options

#ifndef REDCO_COMPILED
#include <redco/options/gradient_bucket.inl.hpp>
#endif
