#pragma once

#include <redco/run/computing_in.hpp>

#include <redco/run/deployer.hpp>
#include <redco/config.hpp>

#include <utility>

namespace redco::run {

REDCO_INLINE computing_in::computing_in(deployer& where, dtype type)
    : where_(where), before_(std::exchange(where.dtype_.compute, type)) {}

REDCO_INLINE computing_in::~computing_in() { where_.dtype_.compute = before_; }

}  // namespace redco::run
