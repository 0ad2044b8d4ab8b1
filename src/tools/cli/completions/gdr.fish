# fish completion of gdr: the program itself knows what may follow (gdr __complete).
# Installed as share/fish/vendor_completions.d/gdr.fish.

function __gdr_complete
    set -l words (commandline -opc)
    set -l current (commandline -ct)
    set -l program (string replace -r '^~/' "$HOME/" -- $words[1])
    set -e words[1]
    for line in (command $program __complete -- $words "$current" 2>/dev/null)
        switch $line
            case ':files' ':folders'
                set -l before (string match -r -- '^--[^=]*=' "$current")
                set -l begun (string replace -r -- '^--[^=]*=' '' "$current")
                set -l found
                if test $line = ':folders'
                    set found (__fish_complete_directories "$begun" '')
                else
                    set found (__fish_complete_path "$begun")
                end
                for one in $found
                    printf '%s%s\n' "$before" $one
                end
            case ':program *'
                # The program and its words, as if they stood alone.
                set -l at (math (string replace ':program ' '' -- $line) + 1)
                set -l rest $words "$current"
                set -l escaped (string escape -- $rest[$at..-2])
                complete -C (string join ' ' -- $escaped $rest[-1])
            case '*'
                printf '%s\n' $line
        end
    end
end

complete -c gdr -f -a '(__gdr_complete)'
