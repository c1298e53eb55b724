#pragma once
// Reads the files of the aws command, ~/.aws/config and ~/.aws/credentials. Only read_shared_files() does I/O.
#include "base/data_text.hpp"
#include "base/result.hpp"
#include <map>
#include <string>
#include <string_view>

namespace quarry::s3 {

/// Sections by name, keys in lower case. The keys of a nested section (`s3 =` with indented lines) belong to the
/// profile.
using Ini = std::map<std::string, std::map<std::string, std::string>>;

/// Parses a file. Omits keys without a value. A value ends before " #". Fails with invalid_argument (K010, file and
/// line) at a line that is neither a section, nor a key and `=` in one, nor a comment. Errors never contain values,
/// which may be secret.
Result<Ini> parse_ini(NamedText named);

struct Profile {
  std::string name = "default";
  std::map<std::string, std::string> values; ///< the credentials file wins over the config file
  bool found = false;                        ///< whether either file has the profile
  std::string value(const std::string& key) const {
    auto it = values.find(key);
    return it == values.end() ? std::string() : it->second;
  }
};

struct SharedFiles {
  Ini config, credentials;
};

/// Merges one profile of both files: `[profile NAME]` in config, for default also `[default]`; `[NAME]` in credentials.
Profile profile_of(const SharedFiles& files, const std::string& name);

/// Reads AWS_CONFIG_FILE and AWS_SHARED_CREDENTIALS_FILE, else the files below HOME. A file that does not exist, or
/// whose directory may not be searched, counts as empty. Fails with K010 and the errors of reading.
Result<SharedFiles> read_shared_files(const std::map<std::string, std::string>& environment);

/// Returns AWS_PROFILE, else AWS_DEFAULT_PROFILE, else "default".
std::string profile_name(const std::map<std::string, std::string>& environment);

} // namespace quarry::s3
