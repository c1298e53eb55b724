#include "artifact/verify.hpp"

#include "artifact/exploded.hpp"
#include "thread/pool.hpp"
#include <algorithm>

namespace quarry::artifact {

namespace {
Result<void> examine(const SourceItem& item, const UnpackOptions& options, Verdict& verdict) {
  if (item.exploded) {
    TRY(auto tree, check_exploded(item));
    verdict.files = tree.files;
    verdict.bytes = tree.bytes;
    verdict.case_pairs = tree.case_pairs;
    return {};
  }
  TRY(auto unpacked, verify_archive(item, options));
  verdict.verified = unpacked.verified;
  verdict.digest = unpacked.digest;
  verdict.files = unpacked.files;
  verdict.bytes = unpacked.bytes;
  verdict.case_pairs = unpacked.case_pairs;
  return {};
}
} // namespace

Result<std::vector<Verdict>> verify(const std::vector<SourceItem>& items, const VerifyOptions& options) {
  UnpackOptions unpack;
  auto at_once = options.at_once > 0 ? options.at_once : options.jobs;
  unpack.codec = codec_for(options.jobs, options.remote, std::min<std::size_t>(at_once, items.size()));
  unpack.allow_unverified = options.allow_unverified;
  unpack.max_ratio = options.max_ratio;
  unpack.on_bytes = [&](std::uint64_t bytes) -> Result<void> {
    if (options.on_bytes) options.on_bytes(bytes);
    return {};
  };
  std::vector<std::size_t> order(items.size());
  for (std::size_t i = 0; i < order.size(); ++i) order[i] = i;
  std::stable_sort(order.begin(), order.end(), [&](auto a, auto b) { return items[a].size > items[b].size; });
  std::vector<Verdict> verdicts(items.size());
  TRY_DO(parallel_for(order.size(), at_once, [&](std::size_t i) -> Result<void> {
    const auto& item = items[order[i]];
    auto& verdict = verdicts[order[i]];
    verdict.name = item.name;
    verdict.file = item.file;
    verdict.exploded = item.exploded;
    auto done = examine(item, unpack, verdict);
    if (done) return {};
    if (done.error().kind == ErrorKind::cancelled) return done;
    verdict.error = std::move(done).error();
    return {};
  }));
  return verdicts;
}

int exit_code_of(const std::vector<Verdict>& verdicts) {
  int code = 0;
  for (const auto& verdict : verdicts) {
    if (!verdict.error) continue;
    if (verdict.error->kind == ErrorKind::corrupt) return traits(ErrorKind::corrupt).exit_code;
    if (code == 0) code = traits(verdict.error->kind).exit_code;
  }
  return code;
}

} // namespace quarry::artifact
