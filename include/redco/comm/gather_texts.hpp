#pragma once

#include <redco/comm/group.hpp>

#include <string>
#include <vector>

namespace redco::comm {

/// Returns the argument `text` of all ranks, in rank order. Texts may have any length. All ranks of
/// the group must call this function.
std::vector<std::string> gather_texts(group& ranks, std::string const& text);

}  // namespace redco::comm

#include <redco/config.hpp>
#ifndef REDCO_COMPILED
#include <redco/comm/gather_texts.inl.hpp>
#endif
