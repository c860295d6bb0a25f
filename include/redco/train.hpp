#pragma once

// Includes the headers that a training program usually needs: plan.hpp, the trainer, losses,
// decoding and batches of text.
#include <redco/plan.hpp>

#include <redco/run/main_of.hpp>
#include <redco/run/predictor.hpp>
#include <redco/run/trainer.hpp>
#include <redco/run/verify.hpp>
#include <redco/run/worker.hpp>

#include <redco/generate/generate.hpp>

#include <redco/text/batches.hpp>

#include <redco/nn/cross_entropy.hpp>
#include <redco/nn/nn.hpp>
#include <redco/tensor/loss.hpp>
