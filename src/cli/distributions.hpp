#pragma once
// Distributions for people and for programs.
#include "cli/command.hpp"

namespace quarry::cli {

/// `channel show` of the distribution that the first operand names: what its pointer names, and its newest moves.
/// not_found P120.
Result<int> show_distribution(Context& context, const Arguments& arguments);
/// `channel verify` of it: its moves, what its pointer shows, and with `--deep` the files of its sets. not_found P120.
Result<int> verify_distribution(Context& context, const Arguments& arguments);
/// `channel log` of it: its moves, newest first.
Result<int> show_distribution_log(Context& context, const Arguments& arguments);

/// `--channels`: the store of the channels that feed a distribution.
Flag channels_flag();
/// C006 for `--channels` where a channel is named.
Result<void> refuse_channels_of_channel(const Arguments& arguments);

} // namespace quarry::cli
