#pragma once

// Includes the headers that a program for running or training the model of a Hugging Face folder
// usually needs.
#include <redco/run/main_of.hpp>
#include <redco/run/predictor.hpp>
#include <redco/run/trainer.hpp>
#include <redco/log/run_log.hpp>

#include <redco/generate/beam_search.hpp>
#include <redco/generate/generate.hpp>

#include <redco/text/batches.hpp>
#include <redco/text/decoded_rows.hpp>

#include <redco/nn/cross_entropy.hpp>
#include <redco/nn/nn.hpp>

#include <redco/pretrained/decoding_flags.hpp>
#include <redco/pretrained/pretrained.hpp>
#include <redco/adapt/plan/adapter_folder.hpp>
#include <redco/adapt/plan/with_lora.hpp>

#include <redco/data/read_conversations.hpp>
#include <redco/data/read_texts.hpp>

#include <redco/optimizer/optimizers.hpp>
#include <redco/pipeline/functions.hpp>
#include <redco/tokenizer/text_stream.hpp>
