#pragma once

// torch must come before Catch2: in the other order CHECK silently becomes the fatal macro of
// torch's logging.
#include <redco/tensor/torch.hpp>

#include "catch.hpp"
