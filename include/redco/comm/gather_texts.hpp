#pragma once

#include <redco/comm/group.hpp>

#include <string>
#include <vector>

namespace redco::comm {

/// Every rank's text, of any length, in rank order on all ranks of the group, each of which calls it.
std::vector<std::string> gather_texts(group& ranks, std::string const& text);

}  // namespace redco::comm

#ifndef REDCO_COMPILED
#include <redco/comm/gather_texts.inl.hpp>
#endif
