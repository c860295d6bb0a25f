#pragma once

#include <redco/comm/make_world.hpp>

#include <redco/comm/process_world.hpp>
#include <redco/comm/thread_world.hpp>
#include <redco/options/launch.hpp>
#include <redco/config.hpp>

namespace redco::comm {

REDCO_INLINE std::unique_ptr<world> make_world(mesh const& shape, rank_options const& options) {
  if (options::launched().processes > 1) return make_process_world(shape, options);
  return std::make_unique<thread_world>(shape, options);
}

}  // namespace redco::comm
