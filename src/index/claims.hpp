#pragma once
// Private to the room.
// What pages claim about files, and what is wrong with it: the judging part of `index check`. Pure, thread-safe.
#include "base/finding.hpp"
#include "index/facts.hpp"
#include "index/read_page.hpp"
#include "index/site.hpp"
#include <map>
#include <string>
#include <string_view>
#include <vector>

namespace quarry::index {

inline constexpr std::string_view k_rebuild =
    "in a store, `quarry index repair channel:NAME` or `run:ID` writes pages again, and `quarry index rebuild` lost "
    "metadata files; else run `quarry index build` again";

/// An error at a place; what a rebuild of the index repairs, unless `fix` says otherwise.
Finding error_at(std::string place, std::string code, std::string message, std::string_view fix = k_rebuild);

/// What one page says about one file.
struct Claim {
  std::string place; ///< "simple/rocm/index.html: rocm-1.0.tar.gz"
  PageFile file;
};
/// By what the site calls the file (Site::target).
using Claims = std::map<std::string, std::vector<Claim>>;

struct PageOfFiles {
  std::string directory, place; ///< "simple/rocm", "simple/rocm/index.html"
  std::string project;          ///< normalised, to which every file must belong; empty: to any
};

/// Findings about a page by itself: names, hashes, fields that installers stumble over. Adds what it says about files
/// to `claims`; links that lead elsewhere are a note (I010).
Findings judge_page(const Site& site, const PageOfFiles& where, const IndexPage& page, Claims& claims);

struct Judgement {
  Findings findings;
  bool altered = false; ///< the file's bytes are not those that the page speaks of
};
/// One claim against the file: I010, I012, I013, I014, I019. `target`: what the site calls the file.
Judgement judge_claim(const Claim& claim, const std::string& target, const FileFacts& facts);

} // namespace quarry::index
