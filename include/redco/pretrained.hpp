#pragma once

// Includes the headers that a program for running or training the model of a Hugging Face folder
// usually needs.
#include <redco/run/inference.hpp>
#include <redco/run/main_of.hpp>
#include <redco/run/predictor.hpp>
#include <redco/run/trainer.hpp>
#include <redco/log/list_unused.hpp>

#include <redco/generate/beam_search.hpp>
#include <redco/generate/generate.hpp>

#include <redco/text/decoded_rows.hpp>
#include <redco/text/padded_ids.hpp>
#include <redco/text/seq2seq_batch.hpp>
#include <redco/text/token_windows.hpp>

#include <redco/nn/cross_entropy.hpp>
#include <redco/nn/nn.hpp>

#include <redco/pretrained/decoding_flags.hpp>
#include <redco/pretrained/pretrained.hpp>
#include <redco/adapt/plan/adapter_folder.hpp>
#include <redco/adapt/plan/usual_targets.hpp>

#include <redco/data/hold_out_every.hpp>
#include <redco/data/read_jsonl.hpp>
#include <redco/data/read_texts.hpp>

#include <redco/optimizer/adamw.hpp>
#include <redco/pipeline/collate.hpp>
#include <redco/pipeline/loss.hpp>
#include <redco/pipeline/pipe.hpp>
#include <redco/pipeline/predict.hpp>
#include <redco/tokenizer/text_stream.hpp>
#include <redco/adapt/plan/with_lora.hpp>
