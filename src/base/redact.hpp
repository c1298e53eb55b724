#pragma once
// Keeping credentials out of what people and stores see. Pure values.
#include <map>
#include <string>
#include <string_view>
#include <vector>

namespace quarry::redact {

/// `text` with every URL in it (`scheme://…` up to white space, a quote or an angle bracket) cut to scheme, host, port
/// and path: user information, query and fragment can each be a credential. Text without a URL is returned as it is.
std::string without_credentials(std::string_view text);

/// Whether a URL carries user information, a query or a fragment.
bool has_credentials(std::string_view url);

/// Whether an environment variable of this name holds a credential: AWS_*, ACTIONS_*, GITHUB_TOKEN and every name with
/// a part TOKEN, SECRET, PASSWORD, PASSWD, CREDENTIAL(S), or that ends with _KEY.
bool is_secret_name(std::string_view name);

/// Replaces known secret values in text by "***". Costs one search of the text per value.
class Redactor {
public:
  Redactor() = default;
  /// The values of all variables with a secret name, and the user information in the URLs of all others (proxies).
  explicit Redactor(const std::map<std::string, std::string>& environment);
  /// Each line of `value` that has at least 8 bytes; shorter ones would replace ordinary words.
  void add(std::string_view value);
  /// User information (as written, and its password percent-decoded) and query of a URL.
  void add_url(std::string_view url);
  std::string apply(std::string text) const;

private:
  std::vector<std::string> values_; ///< longest first: one may be a part of another
};

} // namespace quarry::redact
