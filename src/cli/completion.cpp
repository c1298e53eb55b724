#include "cli/completion.hpp"

namespace quarry::cli {

namespace {

// Bash splits words at `=` and `:`, so they are joined again before quarry sees them, and what stands before the last
// piece is cut from its answers.
constexpr std::string_view k_bash = R"(# bash completion for quarry; made by `quarry completion bash`
_quarry() {
  local words=() count=0 glue='' word='' i text about files=''
  local at_break=''
  if [[ ${COMP_LINE:COMP_POINT-1:1} == [=:] ]]; then at_break=1; fi
  for ((i = 1; i <= COMP_CWORD; ++i)); do
    word=${COMP_WORDS[i]}
    if [[ $count -gt 0 && ( $word == [=:]* || -n $glue && ( -n $word || $at_break ) ) ]]; then
      words[count-1]+=$word
    else
      words[count]=$word
      count=$((count + 1))
    fi
    if [[ $word == [=:] ]]; then glue=1; else glue=''; fi
  done
  if [[ $word == [=:] ]]; then word=''; fi
  local prefix=${words[count-1]%"$word"}
  COMPREPLY=()
  while IFS=$'\t' read -r text about; do
    if [[ $text == :files ]]; then files=1; else COMPREPLY+=("${text#"$prefix"}"); fi
  done < <("${COMP_WORDS[0]}" complete -- "${words[@]}" 2>/dev/null)
  if [[ ${#COMPREPLY[@]} -eq 1 && ${COMPREPLY[0]} == *[:=/] ]]; then compopt -o nospace 2>/dev/null; fi
  if [[ -n $files ]]; then
    compopt -o filenames 2>/dev/null
    while IFS= read -r text; do COMPREPLY+=("$text"); done < <(compgen -f -- "$word")
  fi
}
complete -F _quarry quarry
)";

constexpr std::string_view k_zsh = R"(#compdef quarry
# zsh completion for quarry; made by `quarry completion zsh`
_quarry() {
  local -a lines described
  local line files
  lines=("${(@f)$("${words[1]}" complete -- "${(@)words[2,CURRENT]}" 2>/dev/null)}")
  for line in $lines; do
    if [[ $line == :files ]]; then files=1
    elif [[ -n $line ]]; then described+=("${${line%%$'\t'*}//:/\\:}:${line#*$'\t'}"); fi
  done
  if (($#described)); then _describe -t quarry 'quarry' described; fi
  if [[ -n $files ]]; then _files; fi
}
if [ "$funcstack[1]" = "_quarry" ]; then _quarry "$@"; else compdef _quarry quarry; fi
)";

constexpr std::string_view k_fish = R"(# fish completion for quarry; made by `quarry completion fish`
function __quarry_complete
  set -l words (commandline -opc)
  set -l program $words[1]
  set -e words[1]
  for line in ($program complete -- $words (commandline -ct) 2>/dev/null)
    if test "$line" = ":files"
      __fish_complete_path (commandline -ct)
    else
      echo $line
    end
  end
end
complete -c quarry -f -a '(__quarry_complete)'
)";

} // namespace

std::string_view bash_completion() { return k_bash; }
std::string_view zsh_completion() { return k_zsh; }
std::string_view fish_completion() { return k_fish; }

} // namespace quarry::cli
