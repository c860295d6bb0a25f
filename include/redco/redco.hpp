#pragma once

// Everything: what can be planned without libtorch, then tensors, ranks, kernels, decoding and training.
#include <redco/plan.hpp>

#include <redco/tensor/arithmetic.hpp>
#include <redco/tensor/bf16_path.hpp>
#include <redco/tensor/describe.hpp>
#include <redco/tensor/device.hpp>
#include <redco/tensor/flat_zeros.hpp>
#include <redco/tensor/function_ref.hpp>
#include <redco/tensor/kept_memory.hpp>
#include <redco/tensor/kernel_set.hpp>
#include <redco/tensor/loss.hpp>
#include <redco/tensor/memory_counter.hpp>
#include <redco/tensor/parallel.hpp>
#include <redco/tensor/rank_environment.hpp>
#include <redco/tensor/recorded_function.hpp>
#include <redco/tensor/save_as.hpp>
#include <redco/tensor/saved_watch.hpp>
#include <redco/tensor/scalar_type.hpp>
#include <redco/tensor/tensor.hpp>
#include <redco/tensor/torch.hpp>
#include <redco/tensor/words_of.hpp>

#include <redco/comm/collective_label.hpp>
#include <redco/comm/collectives.hpp>
#include <redco/comm/group.hpp>
#include <redco/comm/in_process_group.hpp>
#include <redco/comm/lifeline.hpp>
#include <redco/comm/rank_context.hpp>
#include <redco/comm/rank_groups.hpp>
#include <redco/comm/ranks.hpp>
#include <redco/comm/reduce_op.hpp>
#include <redco/comm/replica_round.hpp>

#include <redco/kernel/attention.hpp>
#include <redco/kernel/attention_options.hpp>
#include <redco/kernel/batch_norm.hpp>
#include <redco/kernel/cross_entropy.hpp>
#include <redco/kernel/dropout.hpp>
#include <redco/kernel/gathered_attention.hpp>
#include <redco/kernel/gelu.hpp>
#include <redco/kernel/gru.hpp>
#include <redco/kernel/layer_norm.hpp>
#include <redco/kernel/lookup.hpp>
#include <redco/kernel/lstm.hpp>
#include <redco/kernel/relu.hpp>
#include <redco/kernel/rms_norm.hpp>
#include <redco/kernel/rotate.hpp>
#include <redco/kernel/silu.hpp>
#include <redco/kernel/swiglu.hpp>
#include <redco/kernel/top_entries.hpp>
#include <redco/kernel/vocabulary_shard.hpp>

#include <redco/update/clip_factor.hpp>
#include <redco/update/gradient_norm.hpp>
#include <redco/update/make_segment.hpp>
#include <redco/update/norm_range.hpp>
#include <redco/update/optimizer.hpp>
#include <redco/update/segment.hpp>
#include <redco/update/squared_norm.hpp>
#include <redco/update/update.hpp>
#include <redco/update/updating_optimizer.hpp>

#include <redco/ckpt/checkpoint_bytes.hpp>
#include <redco/ckpt/load_checkpoint.hpp>
#include <redco/ckpt/load_model.hpp>
#include <redco/ckpt/load_parameters.hpp>
#include <redco/ckpt/read_parts.hpp>
#include <redco/ckpt/save_checkpoint.hpp>
#include <redco/ckpt/save_checkpoint_with.hpp>
#include <redco/ckpt/save_model.hpp>
#include <redco/ckpt/save_model_with.hpp>
#include <redco/ckpt/scalar_type.hpp>
#include <redco/ckpt/state_part.hpp>

#include <redco/nn/batch_norm.hpp>
#include <redco/nn/builder.hpp>
#include <redco/nn/check_saved.hpp>
#include <redco/nn/context.hpp>
#include <redco/nn/context_entries.hpp>
#include <redco/nn/context_entry.hpp>
#include <redco/nn/cross_entropy.hpp>
#include <redco/nn/in_layer.hpp>
#include <redco/nn/key_value_cache.hpp>
#include <redco/nn/leaves.hpp>
#include <redco/nn/logits.hpp>
#include <redco/nn/module.hpp>
#include <redco/nn/nn.hpp>
#include <redco/nn/parameter.hpp>
#include <redco/nn/parameter_store.hpp>
#include <redco/nn/parameter_values.hpp>
#include <redco/nn/pass.hpp>
#include <redco/nn/recomputed.hpp>
#include <redco/nn/recurrent.hpp>

#include <redco/generate/beam_search.hpp>
#include <redco/generate/decoding.hpp>
#include <redco/generate/generate.hpp>

#include <redco/text/decoded_rows.hpp>
#include <redco/text/next_token_batch.hpp>
#include <redco/text/padded_ids.hpp>
#include <redco/text/seq2seq_batch.hpp>
#include <redco/text/token_batch.hpp>
#include <redco/text/token_windows.hpp>

#include <redco/run/check_same_examples.hpp>
#include <redco/run/deployer.hpp>
#include <redco/run/dtype_text.hpp>
#include <redco/run/evaluation.hpp>
#include <redco/run/fit_loop.hpp>
#include <redco/run/fit_report.hpp>
#include <redco/run/for_each_round.hpp>
#include <redco/run/inference.hpp>
#include <redco/run/json_of.hpp>
#include <redco/run/loss_totals.hpp>
#include <redco/run/main_of.hpp>
#include <redco/run/predictor.hpp>
#include <redco/run/prefetch_scope.hpp>
#include <redco/run/rank_state.hpp>
#include <redco/run/trainer.hpp>
#include <redco/run/training_step.hpp>
#include <redco/run/user_call.hpp>

#include <redco/pretrained.hpp>
#include <redco/train.hpp>
