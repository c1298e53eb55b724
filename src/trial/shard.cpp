#include "trial/shard.hpp"

#include "base/text.hpp"
#include <fmt/core.h>

namespace quarry::trial {

namespace {
Unexpected refused(std::string message, std::string hint) {
  return fail(ErrorKind::invalid_argument, "X029", std::move(message), std::move(hint));
}
} // namespace

Result<registry::Shard> shard_of(const SuiteDefinition& suite, const ShardRequest& request) {
  auto total = static_cast<std::uint64_t>(suite.shards);
  if (total == 1)
    return refused(fmt::format("suite {} has no shards", suite.name),
                   "its definition says how many there are, `shards = 4`: docs/formats/suite.md");
  auto slash = request.part.find('/');
  auto index = text::parse_u64(request.part.substr(0, slash));
  auto of = slash == std::string::npos ? std::nullopt : text::parse_u64(request.part.substr(slash + 1));
  if (!index || !of || *index < 1 || *index > *of)
    return refused(fmt::format("--shard {:?} does not name a shard", request.part),
                   fmt::format("the first of {}: --shard 1/{}", total, total));
  if (*of != total)
    return refused(
        fmt::format("suite {} has {} shards, and --shard {} names one of {}", suite.name, total, request.part, *of),
        fmt::format("run shards 1/{} to {}/{}; their number is a part of the suite's definition", total, total, total));
  if (request.run.empty())
    return refused(fmt::format("--shard {} needs --run NAME outside of a job of GitHub", request.part),
                   "give all shards of one run the same --run NAME, such as the number of a Slurm array job; a job of "
                   "GitHub needs none");
  return registry::Shard{*index, total, static_cast<std::uint64_t>(suite.min_passed), request.run};
}

void add_shard(const registry::Shard& shard, venv::Variables& variables) {
  variables["GTEST_TOTAL_SHARDS"] = std::to_string(shard.total);
  variables["GTEST_SHARD_INDEX"] = std::to_string(shard.index - 1);
}

} // namespace quarry::trial
