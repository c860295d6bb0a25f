#pragma once

#include <redco/shape/mesh.hpp>

#include <redco/diag/error.hpp>

#include <string>

namespace redco::cost {

/// Throws `error` with exit code 64 if the number of ranks of the mesh is not a multiple of
/// `hosts`.
constexpr void check_hosts(mesh const& on, int hosts) {
  if (hosts < 1 || on.ranks() % hosts != 0)
    throw error(exit_code::usage, std::to_string(on.ranks()) + (on.ranks() == 1 ? " rank" : " ranks") +
                                      " cannot be shared equally by " + std::to_string(hosts) +
                                      " hosts; choose a number of hosts that divides the ranks");
}

}  // namespace redco::cost
