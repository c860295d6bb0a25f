#pragma once

#include <string>

namespace redco {

/// Returns the command that started this process, quoted for a shell. A wrapper script can set
/// REDCO_COMMAND to its own command, which is then returned.
std::string command_line();

/// Returns the command that continues this run: the command line with its --resume option replaced
/// by `--resume auto`.
std::string resume_command();

}  // namespace redco

#ifndef REDCO_COMPILED
#include <redco/options/command_line.inl.hpp>
#endif
