#pragma once
// The shared files of aws: ~/.aws/config and ~/.aws/credentials. Pure over their text.
#include "base/result.hpp"
#include <map>
#include <string>
#include <string_view>

namespace quarry::s3 {

/// Sections by name, keys in lower case. A nested section (`s3 =` with indented lines) is folded into its profile.
using Ini = std::map<std::string, std::map<std::string, std::string>>;

/// invalid_argument K010 with file and line for what is neither a section, a key with a value, nor a comment. Values
/// are never part of an error: they may be secret.
Result<Ini> parse_ini(std::string_view text, const std::string& file);

struct Profile {
  std::string name = "default";
  std::map<std::string, std::string> values; ///< the credentials file wins over the config file
  bool found = false;
  std::string value(const std::string& key) const {
    auto it = values.find(key);
    return it == values.end() ? std::string() : it->second;
  }
};

/// One profile of both files: `[profile NAME]` or `[default]` in config, `[NAME]` in credentials.
Profile profile_of(const Ini& config, const Ini& credentials, const std::string& name);

struct SharedFiles {
  Ini config, credentials;
};

/// AWS_CONFIG_FILE and AWS_SHARED_CREDENTIALS_FILE, else those below HOME; a file that is not there is empty.
Result<SharedFiles> read_shared_files(const std::map<std::string, std::string>& environment);

/// AWS_PROFILE, AWS_DEFAULT_PROFILE, else "default".
std::string profile_name(const std::map<std::string, std::string>& environment);

} // namespace quarry::s3
