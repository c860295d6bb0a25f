#pragma once

#include <redco/comm/group.hpp>

#include <string>

namespace redco::comm {

/// Sends the text of rank `root` to all ranks of the group and returns it on each rank. The text
/// may have any length. All ranks of the group must call this function.
std::string broadcast_text(group& ranks, std::string const& text, int root = 0);

}  // namespace redco::comm

#include <redco/config.hpp>
#ifndef REDCO_COMPILED
#include <redco/comm/broadcast_text.inl.hpp>
#endif
