#pragma once

#include <string>

namespace redco {

/// The command that started this process, quoted for a shell; a script that wraps it names itself in REDCO_COMMAND.
std::string command_line();

/// The command that continues the run: the same, resuming, whatever it said of --resume before.
std::string resume_command();

}  // namespace redco

#ifndef REDCO_COMPILED
#include <redco/options/command_line.inl.hpp>
#endif
