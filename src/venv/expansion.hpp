#pragma once
// Private to the room.
// The unpacked development files: each is a member of the payload in the sealed wheel, or the file of a sibling
// package.
#include "base/result.hpp"
#include "venv/file_checks.hpp"
#include "venv/installed.hpp"
#include "venv/packed.hpp"
#include <map>
#include <string>

namespace quarry::venv {

/// What unpacked development files are compared with.
struct Unpacked {
  const DevelPayload& payload;
  const std::map<std::string, Sha256>& proven; ///< files of all distributions, by path in site-packages
  const std::string& site_packages;
};

/// Compares the unpacked files of `distribution` with the payload. Reads the links in site-packages; whole files are
/// left to the checks that are returned. A file that is a link in the payload must have the bytes that the link leads
/// to: TheRock's scripts make hard links of links.
Comparison compare_with_payload(const Distribution& distribution, const Unpacked& unpacked);

/// Checks the archive if it exists. If it is missing although RECORD lists it, every member must have a row in RECORD.
/// If RECORD does not list it either, links that lead nowhere need no row.
Comparison compare_archive(const FileCheck& archive, const Distribution& distribution, const Unpacked& unpacked);

} // namespace quarry::venv
