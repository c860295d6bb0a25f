#pragma once

namespace redco {

/// Exit code of a program that uses redco. Follows sysexits.h for the codes that sysexits.h names.
enum class exit_code : int {
  done = 0,         ///< the program completed its work
  missed = 1,       ///< a requested quality was not reached
  usage = 64,       ///< invalid options or mesh
  data = 65,        ///< data or checkpoint is missing or has invalid content
  peer_lost = 69,   ///< a rank ended or does not answer
  internal = 70,    ///< exception in user code or in the library
  io = 74,          ///< reading or writing failed
  preempted = 75,   ///< state was saved after a signal; requeue the job
  rendezvous = 76,  ///< the ranks did not find each other
  not_finite = 79,  ///< loss, gradient or a parameter is NaN or infinite
};

}  // namespace redco
