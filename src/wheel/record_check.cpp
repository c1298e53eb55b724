#include "wheel/record_check.hpp"

#include "sys/clock.hpp"
#include "thread/pool.hpp"
#include "wheel/dist_info.hpp"
#include "wheel/member_digest.hpp"
#include <atomic>
#include <fmt/core.h>
#include <map>
#include <optional>

namespace quarry::wheel {

namespace {

// Whoever suppresses findings must have seen all of them; hostile archives have as many as entries.
constexpr std::size_t k_findings_max = 10'000;

const std::string k_fix = "do not use this wheel: get it again from its source, or build it again";

class RecordChecker {
public:
  RecordChecker(const RecordCheck& check, Findings& findings)
      : check_(check), findings_(findings), record_(check.dist_info + "/RECORD") {}

  Result<bool> run() {
    index_rows();
    const auto& members = check_.zip.members();
    std::vector<Findings> found(members.size());
    std::atomic<bool> all_read = true;
    TRY_DO(parallel_for(members.size(), check_.workers, [&](std::size_t i) -> Result<void> {
      TRY_DO(sys::check_interrupted());
      bool whole = check_member(members[i], found[i]);
      if (!whole) all_read = false;
      bool seen = check_.observer && !members[i].is_directory && whole;
      return seen ? check_.observer->end(i) : Result<void>();
    }));
    for (auto& f : found) report(std::move(f));
    check_rows_without_file();
    return all_read && !is_cut_;
  }

private:
  Finding error(std::string code, const std::string& path, std::string message) const {
    return {std::move(code), Severity::error, place_of(check_.file_name, path), std::move(message), k_fix};
  }
  void report(Findings found) {
    for (auto& f : found) {
      if (findings_.size() < k_findings_max)
        findings_.push_back(std::move(f));
      else
        is_cut_ = true;
    }
  }
  bool is_signature(const std::string& path) const { return path == record_ + ".jws" || path == record_ + ".p7s"; }

  void index_rows() {
    for (const auto& row : check_.rows) {
      if (!rows_.try_emplace(row.path, &row).second)
        report({error("W002", row.path, "RECORD lists the file twice")});
      else if (row.path == record_ && (!row.algorithm.empty() || !row.raw_digest.empty() || row.size))
        report({error("W004", row.path, "RECORD states a digest or size of itself")});
      else if (is_signature(row.path))
        report({error("W004", row.path, "RECORD lists its own signature, which is made after it")});
    }
  }

  /// Whether all bytes of the member came, whatever RECORD says of them.
  bool check_member(const zip::Member& member, Findings& found) const {
    if (member.is_directory) return read_only(member, found);
    auto it = rows_.find(member.name);
    bool exempt = member.name == record_ || is_signature(member.name);
    if (it == rows_.end() && !exempt) found.push_back(error("W002", member.name, "the file is not listed in RECORD"));
    if (it == rows_.end() || exempt) return read_only(member, found);
    const auto& row = *it->second;
    if (row.size && *row.size != member.size)
      found.push_back(
          error("W003", member.name, fmt::format("RECORD says {} bytes, the file has {}", *row.size, member.size)));
    if (!is_strong_digest(row.algorithm)) {
      found.push_back(
          error("W003", member.name,
                row.algorithm.empty()
                    ? "RECORD has no digest of the file"
                    : fmt::format("RECORD has a digest of the kind {}; it must be sha256 or better", row.algorithm)));
      return read_only(member, found);
    }
    auto digest = digest_member(check_.zip, member, {row.algorithm, check_.workers > 1, tap(member)});
    if (!digest) return unreadable(member, digest.error(), found);
    if (*digest != row.raw_digest)
      found.push_back(error("W003", member.name,
                            fmt::format("RECORD says {}={}, the file has {}", row.algorithm, row.raw_digest, *digest)));
    return true;
  }

  std::function<void(std::span<const std::byte>)> tap(const zip::Member& member) const {
    if (!check_.observer || member.is_directory) return {};
    auto number = static_cast<std::size_t>(&member - check_.zip.members().data());
    return [observer = check_.observer, number](std::span<const std::byte> bytes) { observer->feed(number, bytes); };
  }

  // No digest to compare with, but the container's CRC is.
  bool read_only(const zip::Member& member, Findings& found) const {
    auto read = check_.zip.read(member, [see = tap(member)](std::span<const std::byte> bytes) -> Result<void> {
      if (see) see(bytes);
      return {};
    });
    return read ? true : unreadable(member, read.error(), found);
  }
  bool unreadable(const zip::Member& member, const Error& e, Findings& found) const {
    found.push_back({e.code, Severity::error, place_of(check_.file_name, member.name), e.message, e.hint});
    return false;
  }

  void check_rows_without_file() {
    for (const auto& [path, row] : rows_) {
      const auto* member = check_.zip.find(path);
      if (!member || member->is_directory)
        report({error("W002", std::string(path), "RECORD lists a file that the wheel lacks")});
    }
    if (!rows_.contains(record_))
      report({{"W002", Severity::warning, place_of(check_.file_name, record_), "RECORD does not list itself", ""}});
  }

  const RecordCheck& check_;
  Findings& findings_;
  std::string record_;
  std::map<std::string_view, const dist::RecordRow*> rows_;
  bool is_cut_ = false;
};

} // namespace

Result<bool> check_record(const RecordCheck& check, Findings& findings) { return RecordChecker(check, findings).run(); }

} // namespace quarry::wheel
