#pragma once
// Which artifacts `install_rocm_from_artifacts.py` fetches for its switches, of February and of August 2026. Pure.
#include <string>
#include <string_view>
#include <vector>

namespace quarry::cli::compat {

/// One switch: of each of `names` the `lib` archives, with --tests the `test` archives too, and those that `also`
/// matches. Expressions are searched for anywhere in the archive's name, so `blas_lib` means `host-blas_lib`, too.
struct Component {
  std::string_view flag;           ///< "--blas"
  std::string_view names, also;    ///< separated by spaces
  std::string_view feb_names = {}; ///< where February's differ
  std::string_view feb_also = {};  ///< likewise
  bool in_feb = true, in_aug = true;
};
const std::vector<Component>& components();

/// The expressions for these switches ("--blas", …); empty switches: none, which means everything. `base_only`: what
/// every choice has, and nothing else.
std::vector<std::string> expressions(const std::vector<std::string>& flags, bool tests, bool base_only, bool feb);
/// Those that one switch adds.
std::vector<std::string> expressions_of(const Component& component, bool tests, bool feb);

} // namespace quarry::cli::compat
