#include "trial/kept.hpp"

#include "base/text.hpp"
#include "registry/registry.hpp"
#include "sys/file.hpp"
#include "sys/path.hpp"
#include "trial/evidence.hpp"
#include <fmt/core.h>

namespace quarry::trial {

namespace {

constexpr std::string_view k_record_suffix = ".json", k_log_suffix = ".txt";
constexpr std::size_t k_name_digits = 12;

std::string log_beside(const std::string& file) {
  bool named = file.ends_with(k_record_suffix);
  return file.substr(0, file.size() - (named ? k_record_suffix.size() : 0)) + std::string(k_log_suffix);
}

Unexpected not_kept(const std::string& file, std::string_view why) {
  return fail(ErrorKind::corrupt, "X016", fmt::format("{} cannot be recorded: {}", file, why),
              "name the .json file that `quarry test` kept, with its .txt file beside it");
}

} // namespace

Result<registry::EvidenceDigest> store_evidence(store::ObjectStore& store, const registry::EvidenceRecord& evidence,
                                                const std::string& log) {
  TRY_DO(store_log(store, log));
  return registry::put_evidence(store, evidence);
}

Result<registry::EvidenceDigest> store_or_keep(store::ObjectStore& store, const registry::EvidenceRecord& evidence,
                                               const std::string& log, const std::string& directory) {
  auto stored = store_evidence(store, evidence, log);
  if (stored) return stored;
  auto error = std::move(stored).error();
  auto record = registry::to_json(evidence);
  auto file = path::join(
      directory, fmt::format("quarry-evidence-{}{}", sha256(record).hex().substr(0, k_name_digits), k_record_suffix));
  TRY_DO(sys::write_file(log_beside(file), log), "while keeping evidence that the store refused: " + error.message);
  TRY_DO(sys::write_file(file, record), "while keeping evidence that the store refused: " + error.message);
  if (!error.hint.empty()) error.details.push_back(error.hint);
  error.details.push_back(fmt::format("the suite has ended: {}. Its evidence is kept in {}", evidence.result, file));
  error.hint = fmt::format("`quarry evidence record --kept {} --store {}` stores it", text::shell_word(file),
                           text::shell_word(store.describe()));
  return fail(std::move(error));
}

Result<Recorded> record_kept(const std::string& file, store::ObjectStore& store) {
  TRY(auto text, sys::read_file(file, registry::k_record_bytes_max));
  auto evidence = registry::parse_evidence(text, file);
  if (!evidence) return not_kept(file, evidence.error().message);
  auto log = sys::read_file(log_beside(file), k_log_bytes_max);
  if (!log) return not_kept(file, log.error().message);
  if (log_key(*log) != evidence->log)
    return not_kept(file, fmt::format("{} is not its log, {}", log_beside(file), evidence->log));
  TRY(auto digest, store_evidence(store, *evidence, *log));
  return Recorded{std::move(*evidence), digest};
}

} // namespace quarry::trial
