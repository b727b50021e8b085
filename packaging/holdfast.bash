# bash completion of holdfast(1): subcommands, and the flags that each one's --help lists.
_holdfast() {
  local word=${COMP_WORDS[COMP_CWORD]} command=${COMP_WORDS[1]} at
  for ((at = 1; at < COMP_CWORD; ++at)); do
    [[ ${COMP_WORDS[at]} == -- ]] && return
  done
  if ((COMP_CWORD == 1)); then
    mapfile -t COMPREPLY < <(compgen -W 'run doctor config fault fabric simulate trace collective study plan reference --help --version' -- "$word")
  elif [[ $word == -* ]]; then
    mapfile -t COMPREPLY < <(compgen -W "$(holdfast "$command" --help 2>/dev/null | grep -oE -- '--[a-z.-]+')" -- "$word")
  else
    mapfile -t COMPREPLY < <(compgen -f -- "$word")
  fi
}
complete -o filenames -F _holdfast holdfast
