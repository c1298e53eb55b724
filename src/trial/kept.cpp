#include "trial/kept.hpp"

#include "base/codes.hpp"
#include "base/text.hpp"
#include "registry/evidence_counts.hpp"
#include "registry/registry.hpp"
#include "sys/file.hpp"
#include "sys/path.hpp"
#include "trial/evidence.hpp"
#include "venv/source.hpp"
#include <algorithm>
#include <fmt/core.h>

namespace quarry::trial {

namespace {

constexpr std::string_view k_record_suffix = ".json", k_log_suffix = ".txt";
constexpr std::string_view k_name_start = "quarry-evidence-";
constexpr std::size_t k_name_digits = 12;

std::string log_beside(const std::string& file) {
  bool named = file.ends_with(k_record_suffix);
  return file.substr(0, file.size() - (named ? k_record_suffix.size() : 0)) + std::string(k_log_suffix);
}

Unexpected not_kept(const std::string& file, std::string_view why) {
  return fail(ErrorKind::corrupt, "X016", fmt::format("{} cannot be recorded: {}", file, why),
              "name the .json file that `quarry test` kept, with its .txt file beside it");
}

/// Somebody wrote into the file after it was kept. A file that was given another name is taken.
Result<void> check_name(const std::string& file, std::string_view record) {
  auto name = path::basename(file);
  if (!name.starts_with(k_name_start) || !name.ends_with(k_record_suffix)) return {};
  auto digits = name.substr(k_name_start.size(), name.size() - k_name_start.size() - k_record_suffix.size());
  auto digest = sha256(record).hex();
  if (digits.size() == k_name_digits && digest.starts_with(digits)) return {};
  return fail(ErrorKind::corrupt, "X022",
              fmt::format("{} was altered: its sha256 is {}", file, digest.substr(0, k_name_digits)),
              "nothing was recorded: look at the job that kept it, and test again");
}

} // namespace

Result<registry::EvidenceDigest> store_evidence(store::ObjectStore& store, const registry::EvidenceRecord& evidence,
                                                const std::string& log) {
  TRY_DO(store_log(store, log));
  return registry::put_evidence(store, evidence);
}

Result<std::string> keep_evidence(const std::string& directory, const registry::EvidenceRecord& evidence,
                                  const std::string& log) {
  auto record = registry::to_json(evidence);
  auto digits = sha256(record).hex().substr(0, k_name_digits);
  auto file = path::join(directory, fmt::format("{}{}{}", k_name_start, digits, k_record_suffix));
  TRY_DO(sys::write_file(log_beside(file), log));
  TRY_DO(sys::write_file(file, record));
  return file;
}

Result<registry::EvidenceDigest> store_or_keep(store::ObjectStore& store, const std::string& directory,
                                               const registry::EvidenceRecord& evidence, const std::string& log) {
  auto stored = store_evidence(store, evidence, log);
  if (stored) return stored;
  auto error = std::move(stored).error();
  TRY(auto file, keep_evidence(directory, evidence, log),
      "while keeping evidence that the store refused: " + error.message);
  if (!error.hint.empty()) error.details.push_back(error.hint);
  error.details.push_back(fmt::format("the suite has ended: {}. Its evidence is kept in {}", evidence.result, file));
  // The command would be refused again, so the hint does not name this store.
  auto other = error.is(codes::store_read_only) ? "s3://BUCKET/PREFIX" : text::shell_word(store.describe());
  error.hint = fmt::format("`quarry evidence record --kept {} --store {}` stores it", text::shell_word(file), other);
  return fail(std::move(error));
}

namespace {
Result<void> check_about(const registry::EvidenceRecord& evidence, const About& about, store::ObjectReader& store) {
  auto another = [](const std::string& what) {
    return fail(ErrorKind::corrupt, "X021", "the kept evidence is about " + what,
                "nothing was recorded: look at the job that made it");
  };
  if (!about.family.empty() && evidence.cell.family != about.family)
    return another(fmt::format("the family {}, not {}", evidence.cell.family, about.family));
  if (!about.framework.empty() && evidence.cell.framework != about.framework)
    return another(fmt::format("the framework `{}`, not {}", evidence.cell.framework, about.framework));
  if (about.backend && evidence.cell.backend != *about.backend)
    return another(about.backend->empty() ? "what ran on a CPU" : "what ran on a GPU");
  if (about.locator.empty()) return {};
  venv::SourceRequest request;
  request.locator = about.locator;
  request.store = &store;
  TRY(auto source, venv::find_source(request), "while looking for what was tested");
  auto sets = evidence.sets;
  if (!evidence.set.empty()) sets.push_back(evidence.set);
  if (sets.empty()) return another("no sealed set");
  for (const auto& set : sets)
    if (std::ranges::find(source.sets, set, &registry::SealedSet::digest) == source.sets.end())
      return another(fmt::format("set:{}, which is not in {}", set.short_hex(), about.locator));
  return {};
}
} // namespace

Result<Recorded> record_kept(const std::string& file, const About& about, store::ObjectStore& store) {
  TRY(auto text, sys::read_file(file, registry::k_record_bytes_max));
  TRY_DO(check_name(file, text));
  auto evidence = registry::parse_evidence({text, file});
  if (!evidence) return not_kept(file, evidence.error().message);
  if (!registry::counts_its_rows(*evidence)) return not_kept(file, "its counts do not agree with its rows");
  auto log = sys::read_file(log_beside(file), k_log_bytes_max);
  if (!log) return not_kept(file, log.error().message);
  if (log_key(*log) != evidence->log)
    return not_kept(file, fmt::format("{} is not its log, {}", log_beside(file), evidence->log));
  TRY_DO(check_job(*evidence, about.job_result));
  TRY_DO(check_time(*evidence, about.now_us));
  TRY_DO(check_about(*evidence, about, store));
  TRY(auto digest, store_evidence(store, *evidence, *log));
  return Recorded{std::move(*evidence), digest};
}

} // namespace quarry::trial
