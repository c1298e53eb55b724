#include "trial/subject.hpp"

#include "venv/proof.hpp"
#include <algorithm>
#include <fmt/core.h>
#include <string_view>

namespace quarry::trial {

namespace {

using Work = std::shared_ptr<venv::Workplace>;

/// Files of a store elsewhere are brought here to be compared.
Result<Work> bring_here(const venv::Environment& environment, venv::Source& source, store::ObjectReader& store,
                        unsigned workers, venv::VerifiedPaths& verified) {
  TRY(auto work, venv::Workplace::create(environment));
  TRY_DO(venv::stage_files(source, &store, work.at("files"), workers, verified));
  return std::make_shared<venv::Workplace>(std::move(work));
}

Result<Subject> proven(const venv::Environment& environment, venv::Source source, Work work, unsigned workers,
                       venv::VerifiedPaths& verified) {
  TRY(auto proof, venv::prove(environment, source, workers, verified));
  Subject subject;
  subject.sets = venv::holding_sets(source, proof.files);
  subject.files = std::move(proof.files);
  subject.others = std::move(proof.others);
  subject.sealed = source.sealed;
  subject.description = source.description;
  subject.source = std::move(source);
  subject.work = std::move(work);
  return subject;
}

Result<Subject> prove_against(const venv::Environment& environment, venv::Source source, store::ObjectReader& store,
                              unsigned workers) {
  venv::VerifiedPaths verified;
  TRY(auto work, bring_here(environment, source, store, workers, verified));
  return proven(environment, std::move(source), std::move(work), workers, verified);
}

/// The sealed sets that the receipt names, from the store that the evidence goes to.
Result<venv::Source> source_of_receipt(const venv::Receipt& receipt, store::ObjectReader& store) {
  std::optional<venv::Source> all;
  for (const auto& digest : receipt.sets) {
    venv::SourceRequest request;
    request.locator = "set:" + digest.hex();
    request.store = &store;
    TRY(auto source, venv::find_source(request), "while looking for what the receipt names in " + store.describe());
    if (!all) {
      all = std::move(source);
      continue;
    }
    for (auto& offered : source.files) {
      auto same = std::find_if(all->files.begin(), all->files.end(),
                               [&](const auto& o) { return o.file.filename == offered.file.filename; });
      if (same == all->files.end()) all->files.push_back(std::move(offered));
    }
    for (auto& set : source.sets) all->sets.push_back(std::move(set));
  }
  if (!all)
    return fail(ErrorKind::corrupt, "V020", "the receipt says that its source was sealed, and names no set",
                "install again with `quarry venv install`");
  all->description = receipt.source;
  return std::move(*all);
}

/// What an unsealed source offers now of the files that were installed from it; nullopt: it is not there, or cannot be
/// read here.
Result<std::optional<venv::Source>> source_again(const venv::Receipt& receipt, store::ObjectReader& store) {
  constexpr std::string_view k_directory = "directory:"; // with its whole path; the locator may be a relative one
  bool directory = receipt.source.starts_with(k_directory);
  venv::SourceRequest request;
  request.locator = directory ? receipt.source.substr(k_directory.size()) : receipt.locator;
  request.store = &store;
  auto source = request.locator.empty() ? Result<venv::Source>(venv::Source()) : venv::find_source(request);
  if (!source && registry::is_transport_error(source.error())) return fail(std::move(source).error());
  if (!source || source->is_remote()) return std::nullopt;
  std::erase_if(source->files, [&](const venv::Offered& offered) {
    return std::ranges::find(receipt.files, offered.file.filename, &venv::InstalledFile::filename) ==
           receipt.files.end();
  });
  return std::optional(std::move(*source));
}

bool has_all(const venv::Source& source, const std::vector<venv::InstalledFile>& files) {
  return std::ranges::all_of(files, [&](const venv::InstalledFile& file) {
    return std::ranges::any_of(source.files, [&](const venv::Offered& offered) {
      return offered.file.filename == file.filename && offered.file.sha256 == file.sha256;
    });
  });
}

/// Against the wheels from which it was installed; nullopt if they are not there any more.
Result<std::optional<Subject>> prove_by_wheels(const venv::Environment& environment, const venv::Receipt& receipt,
                                               store::ObjectReader& store, unsigned workers) {
  TRY(auto source, source_again(receipt, store));
  if (!source || source->files.size() < receipt.files.size()) return std::nullopt;
  venv::VerifiedPaths verified;
  TRY(auto work, bring_here(environment, *source, store, workers, verified));
  if (!has_all(*source, receipt.files)) return std::nullopt;
  TRY(auto subject, proven(environment, std::move(*source), std::move(work), workers, verified));
  subject.sealed = false; // it was not when it was installed, also if somebody has sealed it since
  subject.sets.clear();
  subject.description = receipt.source;
  return std::optional(std::move(subject));
}

Result<Subject> subject_of_receipt(const venv::Environment& environment, venv::Receipt receipt,
                                   store::ObjectReader& store, const TrialOptions& options) {
  if (receipt.sealed) {
    TRY(auto source, source_of_receipt(receipt, store));
    TRY(auto subject, prove_against(environment, std::move(source), store, options.workers));
    subject.packages = std::move(receipt.packages);
    return subject;
  }
  TRY(auto distributions, venv::list_distributions(environment));
  if (venv::unpacks_without_digests(distributions, receipt)) {
    TRY(auto subject, prove_by_wheels(environment, receipt, store, options.workers),
        "while looking for the wheels of " + receipt.source);
    if (subject) {
      subject->packages = std::move(receipt.packages);
      return std::move(*subject);
    }
    if (options.on_note)
      options.on_note(fmt::format("source      {} is not in {} as it was: what its packages unpack cannot be compared",
                                  receipt.locator, store.describe()));
  }
  TRY_DO(venv::prove_unchanged(environment, receipt, options.workers));
  Subject subject;
  subject.files = receipt.files;
  subject.others = receipt.others;
  subject.packages = receipt.packages;
  subject.description = receipt.source;
  subject.receipt = std::move(receipt);
  return subject;
}

} // namespace

Result<Subject> find_subject(const TrialOptions& options, const venv::Environment& environment,
                             store::ObjectReader& store) {
  if (!options.locator.empty()) {
    venv::SourceRequest request;
    request.locator = options.locator;
    request.store = &store;
    TRY(auto source, venv::find_source(request));
    if (source.is_remote())
      return fail(ErrorKind::unsupported, "X004",
                  fmt::format("installed files cannot be proven against {}", source.description),
                  "install with `quarry venv install`, whose receipt says where each file came from");
    return prove_against(environment, std::move(source), store, options.workers);
  }
  TRY(auto receipt, venv::read_receipt(environment));
  if (receipt) return subject_of_receipt(environment, std::move(*receipt), store, options);
  return fail(ErrorKind::not_found, "X001",
              fmt::format("{} has no receipt, so nobody knows what is tested there", options.directory),
              "install with `quarry venv install`, or name what the files must be with --from LOCATOR");
}

Result<void> prove_again(const Subject& subject, const venv::Environment& environment, unsigned workers) {
  if (subject.receipt) return venv::prove_unchanged(environment, *subject.receipt, workers);
  venv::VerifiedPaths verified;
  // Wheels outside the environment were hashed before the suite ran and are not hashed again.
  for (const auto& offered : subject.source->files)
    if (!offered.path.starts_with(environment.directory + "/")) verified.insert(offered.path);
  TRY(auto proof, venv::prove(environment, *subject.source, workers, verified));
  auto same = [](const venv::InstalledFile& a, const venv::InstalledFile& b) {
    return a.filename == b.filename && a.sha256 == b.sha256;
  };
  if (std::equal(proof.files.begin(), proof.files.end(), subject.files.begin(), subject.files.end(), same)) return {};
  return fail(ErrorKind::corrupt, "V031", "the suite installed other packages while it ran");
}

} // namespace quarry::trial
