#pragma once

namespace redco {

/// What a program that uses redco returns to its caller (sysexits.h where it has a name for it).
enum class exit_code : int {
  done = 0,         ///< all that was asked for happened
  missed = 1,       ///< a stated quality was not reached
  usage = 64,       ///< options or mesh
  data = 65,        ///< content or existence of data or checkpoint
  peer_lost = 69,   ///< a rank is gone or does not answer
  internal = 70,    ///< an exception in user code or in the library
  io = 74,          ///< reading or writing failed
  preempted = 75,   ///< saved after a signal: requeue
  rendezvous = 76,  ///< the ranks did not find each other
  not_finite = 79,  ///< the loss, the gradient or a parameter is NaN or infinite
};

}  // namespace redco
