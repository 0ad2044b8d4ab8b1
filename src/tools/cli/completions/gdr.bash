# bash completion of gdr: the program itself knows what may follow (gdr __complete).
# Installed as share/bash-completion/completions/gdr.

_gdr() {
    COMPREPLY=()
    local program=${COMP_WORDS[0]/#\~\//$HOME/}
    # bash splits words at = and : (COMP_WORDBREAKS); gdr gets them whole. `first` says which piece a
    # word begins with.
    local words=() first=() i glue=
    for ((i = 1; i <= COMP_CWORD; i++)); do
        local piece=${COMP_WORDS[i]}
        if [[ ${#words[@]} -gt 0 && (-n $glue || $piece == [=:]) ]]; then
            words[${#words[@]} - 1]+=$piece
        else
            words+=("$piece")
            first+=("$i")
        fi
        glue=
        [[ $piece == [=:] ]] && glue=1
    done
    [[ ${#words[@]} -gt 0 ]] || return 0
    local typed=${words[${#words[@]} - 1]}
    # What stands before the piece that bash replaces.
    local kept=
    [[ $COMP_WORDBREAKS == *=* && $typed == *=* ]] && kept=${typed%"${typed##*=}"}
    [[ $COMP_WORDBREAKS == *:* && $typed == *:* ]] && kept=${typed%"${typed##*:}"}

    local line name
    while IFS= read -r line; do
        case $line in
            :files | :folders)
                local begun=${typed#"$kept"} kind=-f
                [[ $typed == --*=* ]] && begun=${typed#*=}
                [[ $line == :folders ]] && kind=-d
                compopt -o filenames 2>/dev/null
                while IFS= read -r name; do
                    COMPREPLY+=("$name")
                done < <(compgen "$kind" -- "$begun")
                ;;
            ":program "*)
                local at=${first[${line#:program }]}
                if declare -F _command_offset >/dev/null; then
                    _command_offset "$at"
                elif [[ $at -eq $COMP_CWORD ]]; then
                    while IFS= read -r name; do
                        COMPREPLY+=("$name")
                    done < <(compgen -c -- "$typed")
                else
                    compopt -o default 2>/dev/null
                fi
                return 0
                ;;
            *)
                line=${line%%$'\t'*}
                COMPREPLY+=("${line#"$kept"}")
                ;;
        esac
    done < <("$program" __complete -- "${words[@]}" 2>/dev/null)
    return 0
}

complete -F _gdr gdr
