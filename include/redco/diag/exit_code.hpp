#pragma once

namespace redco {

/// Exit code of a program that uses redco. Codes that sysexits.h defines have the meanings given
/// there.
enum class exit_code : int {
  done = 0,         ///< Exit code of a program that completed its work
  missed = 1,       ///< Exit code if a quality requested by the user was not reached
  usage = 64,       ///< Exit code if command-line options or the mesh are invalid
  data = 65,        ///< Exit code if data or a checkpoint is missing or has invalid content
  peer_lost = 69,   ///< Exit code if another rank ended or does not answer
  internal = 70,    ///< Exit code of an exception in user code or in the library
  io = 74,          ///< Exit code if reading or writing a file failed
  preempted = 75,   ///< Exit code if the state was saved after a signal: requeue the job
  rendezvous = 76,  ///< Exit code if the ranks could not connect to each other at the start
  not_finite = 79,  ///< Exit code if the loss, a gradient or a parameter is NaN or infinite
};

}  // namespace redco
