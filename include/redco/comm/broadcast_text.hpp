#pragma once

#include <redco/comm/group.hpp>

#include <string>

namespace redco::comm {

/// The text of rank `root`, of any length, on all ranks of the group, each of which calls it.
std::string broadcast_text(group& ranks, std::string const& text, int root = 0);

}  // namespace redco::comm

#ifndef REDCO_COMPILED
#include <redco/comm/broadcast_text.inl.hpp>
#endif
