#pragma once
// Scripts that let a shell complete `quarry`. They ask the program itself (`quarry complete`, complete.hpp), so that
// channels, policies and codes are those that exist now. Pure.
#include <string_view>

namespace quarry::cli {

std::string_view bash_completion();
std::string_view zsh_completion();
std::string_view fish_completion();

} // namespace quarry::cli
