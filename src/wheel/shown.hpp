#pragma once
// Private to the room.
// How many findings are shown: a person fixes the first ones and asks again.
#include <cstddef>

namespace quarry::wheel {

inline constexpr std::size_t k_shown_max = 100;  ///< findings with one code
inline constexpr std::size_t k_details_max = 10; ///< lines of details in an error; `wheel verify` shows all

} // namespace quarry::wheel
