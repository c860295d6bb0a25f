#pragma once

#include <redco/update/any_optimizer.hpp>

#include <redco/config.hpp>

#include <variant>

namespace redco::update {

REDCO_INLINE any_optimizer::any_optimizer(optimizer::chosen_rule const& chosen)
    : any_optimizer(std::visit([](auto const& rule) { return any_optimizer(rule); }, chosen.rule)) {}

}  // namespace redco::update
