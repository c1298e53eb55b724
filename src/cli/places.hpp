#pragma once
// Distributions on the command line: `s3://BUCKET/v2/gfx94X-dcgpu`, a path, or a key in `--store`.
#include "cli/command.hpp"
#include "registry/distributions.hpp"
#include "run/locator.hpp"
#include <memory>
#include <optional>
#include <string>

namespace quarry::cli {

/// Whether an operand names a distribution and not a channel: it has a slash, which no channel's name has. Pure.
bool is_distribution(const std::string& operand);
/// The store and the directory of a distribution that is written out; nullopt if no pointer lies there, or the store
/// cannot be opened. The pointer says where its store begins. One read.
Result<std::optional<run::StorePlace>> written_out_distribution(const Context& context, const std::string& text);

/// The store and the directory of `s3://BUCKET/DIRECTORY`. The store is what a distribution's pointer there says, else
/// the deepest parent that holds sealed sets and may be listed, else the bucket; the directory is empty for a bucket
/// alone. L009 for anything but s3. A read, and a request for each parent.
Result<run::StorePlace> place_in_bucket(const Context& context, const std::string& text);

struct DistributionPlace {
  std::unique_ptr<store::ObjectStore> store;
  std::string directory;
};
/// The distribution that an operand names: a key in `--store`, or written out. not_found P120.
Result<DistributionPlace> distribution_of(const Context& context, const Arguments& arguments,
                                          const std::string& operand);

} // namespace quarry::cli
