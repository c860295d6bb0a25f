#pragma once

#include <string>

namespace redco::options {

/// Returns the command that started this process, quoted for a shell. If the environment variable
/// REDCO_COMMAND is set, returns its value; a wrapper script can put its own command there.
std::string command_line();

/// Returns the command that continues this run: the command line with its --resume option replaced
/// by `--resume auto`.
std::string resume_command();

}  // namespace redco::options

#include <redco/config.hpp>
#ifndef REDCO_COMPILED
#include <redco/options/command_line.inl.hpp>
#endif
