#pragma once
// Where an output of a run lives, in every form in which people and programs name it: one pure function from the facts
// of a run to bucket and key. Thread-safe.
#include "base/result.hpp"
#include "run/bucket.hpp"
#include "run/layout.hpp"
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace quarry::run {

/// What to locate. `run` is the run's own directory; python_index the page that installers take; python_deps the
/// shared index of dependencies at the bucket's root.
enum class Output : std::uint8_t {
  run,
  artifact,
  log,
  manifest,
  tarball,
  python,
  python_dist,
  python_index,
  pytorch,
  jax,
  python_deps
};
/// "run", "artifact", …, "python-dist", …: in this order.
const std::vector<std::string>& output_names();
Result<Output> parse_output(std::string_view name); ///< invalid_argument L024

struct Location {
  std::string bucket;
  std::string key; ///< not encoded, no slash at either end; a directory has none either
  std::string s3_uri() const;
  std::string https_url() const;                          ///< percent-encoded: '+' is %2B
  std::string local_path(std::string_view staging) const; ///< one directory stands for one bucket
};

struct Wanted {
  Layout::Parts run; ///< external_repo is decided here, whatever it holds
  Output output = Output::run;
  std::string group; ///< artifact group; empty: directly below
  std::string name;  ///< below the output's directory, components checked one by one; empty: the directory
  Era era = Era::quarry;
  std::string bucket; ///< asked for, or empty
};

struct Located {
  Location location;
  std::string external_repo, prefix; ///< prefix: "{external_repo}{run_id}-{platform}"
  std::vector<std::string> reasons;
};

/// invalid_argument L020 (a part that cannot stand in a key), L022, L023, L027; not_found L026: this era has no such
/// place.
Result<Located> locate(const Origin& origin, Wanted wanted);

} // namespace quarry::run
