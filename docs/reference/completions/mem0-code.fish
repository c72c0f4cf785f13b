# Print an optspec for argparse to handle cmd's options that are independent of any subcommand.
function __fish_mem0_code_global_optspecs
    string join \n plugin-data-dir= harness= h/help V/version
end

function __fish_mem0_code_needs_command
    # Figure out if the current invocation already has a command.
    set -l cmd (commandline -opc)
    set -e cmd[1]
    argparse -s (__fish_mem0_code_global_optspecs) -- $cmd 2>/dev/null
    or return
    if set -q argv[1]
        # Also print the command, so this can be used to figure out what it is.
        echo $argv[1]
        return 1
    end
    return 0
end

function __fish_mem0_code_using_subcommand
    set -l cmd (__fish_mem0_code_needs_command)
    test -z "$cmd"
    and return 1
    contains -- $cmd[1] $argv
end

complete -c mem0-code -n "__fish_mem0_code_needs_command" -l plugin-data-dir -d 'Use this data folder instead of the host\'s own' -r -F
complete -c mem0-code -n "__fish_mem0_code_needs_command" -l harness -d 'Act for this host, such as `claude-code`' -r
complete -c mem0-code -n "__fish_mem0_code_needs_command" -s h -l help -d 'Print help'
complete -c mem0-code -n "__fish_mem0_code_needs_command" -s V -l version -d 'Print version'
complete -c mem0-code -n "__fish_mem0_code_needs_command" -f -a "hook" -d 'What hosts call; reads one JSON object from standard input'
complete -c mem0-code -n "__fish_mem0_code_needs_command" -f -a "mcp" -d 'Serve the memory tools over MCP on standard input and output'
complete -c mem0-code -n "__fish_mem0_code_needs_command" -f -a "serve" -d 'Serve the Mem0 API over HTTP, for SDKs, plugins and teams'
complete -c mem0-code -n "__fish_mem0_code_needs_command" -f -a "search" -d 'Search the memories of this repository'
complete -c mem0-code -n "__fish_mem0_code_needs_command" -f -a "add" -d 'Store a fact now'
complete -c mem0-code -n "__fish_mem0_code_needs_command" -f -a "remember" -d 'Store a fact now'
complete -c mem0-code -n "__fish_mem0_code_needs_command" -f -a "list" -d 'List the memories of this repository, newest first'
complete -c mem0-code -n "__fish_mem0_code_needs_command" -f -a "get" -d 'Show one memory'
complete -c mem0-code -n "__fish_mem0_code_needs_command" -f -a "update" -d 'Replace a memory\'s text; the old one stays in its history'
complete -c mem0-code -n "__fish_mem0_code_needs_command" -f -a "delete" -d 'Delete memories for good'
complete -c mem0-code -n "__fish_mem0_code_needs_command" -f -a "history" -d 'Show what happened to a memory'
complete -c mem0-code -n "__fish_mem0_code_needs_command" -f -a "event" -d 'Show how far a fact has come that a server accepted'
complete -c mem0-code -n "__fish_mem0_code_needs_command" -f -a "status" -d 'Show what is stored, what waits and what went wrong'
complete -c mem0-code -n "__fish_mem0_code_needs_command" -f -a "doctor" -d 'Check that everything memory needs is in order'
complete -c mem0-code -n "__fish_mem0_code_needs_command" -f -a "pause" -d 'Stop saving and searching until `resume`'
complete -c mem0-code -n "__fish_mem0_code_needs_command" -f -a "resume" -d 'Save and search again'
complete -c mem0-code -n "__fish_mem0_code_needs_command" -f -a "forget" -d 'Delete what is stored about this repository'
complete -c mem0-code -n "__fish_mem0_code_needs_command" -f -a "handoff" -d 'Save this session for another agent, and go on with one'
complete -c mem0-code -n "__fish_mem0_code_needs_command" -f -a "install" -d 'Wire hosts on this machine to mem0-code'
complete -c mem0-code -n "__fish_mem0_code_needs_command" -f -a "uninstall" -d 'Undo `install`; memories stay'
complete -c mem0-code -n "__fish_mem0_code_needs_command" -f -a "config" -d 'Show or change settings'
complete -c mem0-code -n "__fish_mem0_code_needs_command" -f -a "demo" -d 'Show a fact going from one agent\'s session into another\'s'
complete -c mem0-code -n "__fish_mem0_code_needs_command" -f -a "worker" -d 'Deliver a claimed packet, or every packet that waits'
complete -c mem0-code -n "__fish_mem0_code_needs_command" -f -a "telemetry" -d 'Look at or send the usage spool'
complete -c mem0-code -n "__fish_mem0_code_needs_command" -f -a "bundle" -d 'Build, synchronize and check the packages hosts load'
complete -c mem0-code -n "__fish_mem0_code_needs_command" -f -a "eval-engine" -d 'Answer the JSON Lines protocol of a retrieval benchmark on standard input and output'
complete -c mem0-code -n "__fish_mem0_code_needs_command" -f -a "completions" -d 'Print a completion script for a shell'
complete -c mem0-code -n "__fish_mem0_code_needs_command" -f -a "man" -d 'Print the manual page'
complete -c mem0-code -n "__fish_mem0_code_needs_command" -f -a "generate" -d 'Write the generated reference pages and packages'
complete -c mem0-code -n "__fish_mem0_code_needs_command" -f -a "help" -d 'Print this message or the help of the given subcommand(s)'
complete -c mem0-code -n "__fish_mem0_code_using_subcommand hook" -l plugin-data-dir -d 'Use this data folder instead of the host\'s own' -r -F
complete -c mem0-code -n "__fish_mem0_code_using_subcommand hook" -l harness -d 'Act for this host, such as `claude-code`' -r
complete -c mem0-code -n "__fish_mem0_code_using_subcommand hook" -s h -l help -d 'Print help'
complete -c mem0-code -n "__fish_mem0_code_using_subcommand mcp" -l host -d 'The host that starts the server' -r
complete -c mem0-code -n "__fish_mem0_code_using_subcommand mcp" -l plugin-data-dir -d 'Use this data folder instead of the host\'s own' -r -F
complete -c mem0-code -n "__fish_mem0_code_using_subcommand mcp" -l harness -d 'Act for this host, such as `claude-code`' -r
complete -c mem0-code -n "__fish_mem0_code_using_subcommand mcp" -s h -l help -d 'Print help'
complete -c mem0-code -n "__fish_mem0_code_using_subcommand serve; and not __fish_seen_subcommand_from token help" -l addr -d 'Where to listen; beyond loopback only with `--token-file`' -r
complete -c mem0-code -n "__fish_mem0_code_using_subcommand serve; and not __fish_seen_subcommand_from token help" -l store -d 'The memory database; this machine\'s own when not given' -r -F
complete -c mem0-code -n "__fish_mem0_code_using_subcommand serve; and not __fish_seen_subcommand_from token help" -l token-file -d 'Who may ask: names and hashed tokens' -r -F
complete -c mem0-code -n "__fish_mem0_code_using_subcommand serve; and not __fish_seen_subcommand_from token help" -l plugin-data-dir -d 'Use this data folder instead of the host\'s own' -r -F
complete -c mem0-code -n "__fish_mem0_code_using_subcommand serve; and not __fish_seen_subcommand_from token help" -l harness -d 'Act for this host, such as `claude-code`' -r
complete -c mem0-code -n "__fish_mem0_code_using_subcommand serve; and not __fish_seen_subcommand_from token help" -s h -l help -d 'Print help'
complete -c mem0-code -n "__fish_mem0_code_using_subcommand serve; and not __fish_seen_subcommand_from token help" -f -a "token" -d 'Make a token for a person and print it once'
complete -c mem0-code -n "__fish_mem0_code_using_subcommand serve; and not __fish_seen_subcommand_from token help" -f -a "help" -d 'Print this message or the help of the given subcommand(s)'
complete -c mem0-code -n "__fish_mem0_code_using_subcommand serve; and __fish_seen_subcommand_from token" -l token-file -d 'The file that keeps its hash' -r -F
complete -c mem0-code -n "__fish_mem0_code_using_subcommand serve; and __fish_seen_subcommand_from token" -l plugin-data-dir -d 'Use this data folder instead of the host\'s own' -r -F
complete -c mem0-code -n "__fish_mem0_code_using_subcommand serve; and __fish_seen_subcommand_from token" -l harness -d 'Act for this host, such as `claude-code`' -r
complete -c mem0-code -n "__fish_mem0_code_using_subcommand serve; and __fish_seen_subcommand_from token" -s h -l help -d 'Print help'
complete -c mem0-code -n "__fish_mem0_code_using_subcommand serve; and __fish_seen_subcommand_from help" -f -a "token" -d 'Make a token for a person and print it once'
complete -c mem0-code -n "__fish_mem0_code_using_subcommand serve; and __fish_seen_subcommand_from help" -f -a "help" -d 'Print this message or the help of the given subcommand(s)'
complete -c mem0-code -n "__fish_mem0_code_using_subcommand search" -l top-k -d 'Most results, 1 to 20' -r
complete -c mem0-code -n "__fish_mem0_code_using_subcommand search" -l category -d 'Only this category' -r -f -a "project_knowledge\t''
decisions_and_constraints\t''
workflows\t''
problems_and_fixes\t''
results\t''"
complete -c mem0-code -n "__fish_mem0_code_using_subcommand search" -l scope -d 'Where to look' -r -f -a "repo\t'This repository\'s shared memories and your own'
dir\t'The same, from this directory down'
mine\t'Only your own'"
complete -c mem0-code -n "__fish_mem0_code_using_subcommand search" -l run-id -d 'Only this session' -r
complete -c mem0-code -n "__fish_mem0_code_using_subcommand search" -l plugin-data-dir -d 'Use this data folder instead of the host\'s own' -r -F
complete -c mem0-code -n "__fish_mem0_code_using_subcommand search" -l harness -d 'Act for this host, such as `claude-code`' -r
complete -c mem0-code -n "__fish_mem0_code_using_subcommand search" -l json -d 'Print JSON'
complete -c mem0-code -n "__fish_mem0_code_using_subcommand search" -s h -l help -d 'Print help (see more with \'--help\')'
complete -c mem0-code -n "__fish_mem0_code_using_subcommand add" -l plugin-data-dir -d 'Use this data folder instead of the host\'s own' -r -F
complete -c mem0-code -n "__fish_mem0_code_using_subcommand add" -l harness -d 'Act for this host, such as `claude-code`' -r
complete -c mem0-code -n "__fish_mem0_code_using_subcommand add" -l personal -d 'Keep it for yourself, in this repository, instead of for everyone who works on it'
complete -c mem0-code -n "__fish_mem0_code_using_subcommand add" -l json -d 'Print JSON'
complete -c mem0-code -n "__fish_mem0_code_using_subcommand add" -s h -l help -d 'Print help'
complete -c mem0-code -n "__fish_mem0_code_using_subcommand remember" -l plugin-data-dir -d 'Use this data folder instead of the host\'s own' -r -F
complete -c mem0-code -n "__fish_mem0_code_using_subcommand remember" -l harness -d 'Act for this host, such as `claude-code`' -r
complete -c mem0-code -n "__fish_mem0_code_using_subcommand remember" -l personal -d 'Keep it for yourself, in this repository, instead of for everyone who works on it'
complete -c mem0-code -n "__fish_mem0_code_using_subcommand remember" -l json -d 'Print JSON'
complete -c mem0-code -n "__fish_mem0_code_using_subcommand remember" -s h -l help -d 'Print help'
complete -c mem0-code -n "__fish_mem0_code_using_subcommand list" -l page -d 'Page, from 1' -r
complete -c mem0-code -n "__fish_mem0_code_using_subcommand list" -l page-size -d 'Memories a page, 1 to 1,000' -r
complete -c mem0-code -n "__fish_mem0_code_using_subcommand list" -l filter -d 'A filter in the Mem0 language instead of this repository' -r
complete -c mem0-code -n "__fish_mem0_code_using_subcommand list" -l plugin-data-dir -d 'Use this data folder instead of the host\'s own' -r -F
complete -c mem0-code -n "__fish_mem0_code_using_subcommand list" -l harness -d 'Act for this host, such as `claude-code`' -r
complete -c mem0-code -n "__fish_mem0_code_using_subcommand list" -l durable -d 'Only distilled memories, without the turns they come from'
complete -c mem0-code -n "__fish_mem0_code_using_subcommand list" -l json -d 'Print JSON'
complete -c mem0-code -n "__fish_mem0_code_using_subcommand list" -s h -l help -d 'Print help'
complete -c mem0-code -n "__fish_mem0_code_using_subcommand get" -l plugin-data-dir -d 'Use this data folder instead of the host\'s own' -r -F
complete -c mem0-code -n "__fish_mem0_code_using_subcommand get" -l harness -d 'Act for this host, such as `claude-code`' -r
complete -c mem0-code -n "__fish_mem0_code_using_subcommand get" -l json -d 'Print JSON'
complete -c mem0-code -n "__fish_mem0_code_using_subcommand get" -s h -l help -d 'Print help'
complete -c mem0-code -n "__fish_mem0_code_using_subcommand update" -l plugin-data-dir -d 'Use this data folder instead of the host\'s own' -r -F
complete -c mem0-code -n "__fish_mem0_code_using_subcommand update" -l harness -d 'Act for this host, such as `claude-code`' -r
complete -c mem0-code -n "__fish_mem0_code_using_subcommand update" -l json -d 'Print JSON'
complete -c mem0-code -n "__fish_mem0_code_using_subcommand update" -s h -l help -d 'Print help'
complete -c mem0-code -n "__fish_mem0_code_using_subcommand delete" -l plugin-data-dir -d 'Use this data folder instead of the host\'s own' -r -F
complete -c mem0-code -n "__fish_mem0_code_using_subcommand delete" -l harness -d 'Act for this host, such as `claude-code`' -r
complete -c mem0-code -n "__fish_mem0_code_using_subcommand delete" -l json -d 'Print JSON'
complete -c mem0-code -n "__fish_mem0_code_using_subcommand delete" -s h -l help -d 'Print help'
complete -c mem0-code -n "__fish_mem0_code_using_subcommand history" -l plugin-data-dir -d 'Use this data folder instead of the host\'s own' -r -F
complete -c mem0-code -n "__fish_mem0_code_using_subcommand history" -l harness -d 'Act for this host, such as `claude-code`' -r
complete -c mem0-code -n "__fish_mem0_code_using_subcommand history" -l json -d 'Print JSON'
complete -c mem0-code -n "__fish_mem0_code_using_subcommand history" -s h -l help -d 'Print help'
complete -c mem0-code -n "__fish_mem0_code_using_subcommand event" -l plugin-data-dir -d 'Use this data folder instead of the host\'s own' -r -F
complete -c mem0-code -n "__fish_mem0_code_using_subcommand event" -l harness -d 'Act for this host, such as `claude-code`' -r
complete -c mem0-code -n "__fish_mem0_code_using_subcommand event" -l json -d 'Print JSON'
complete -c mem0-code -n "__fish_mem0_code_using_subcommand event" -s h -l help -d 'Print help'
complete -c mem0-code -n "__fish_mem0_code_using_subcommand status" -l plugin-data-dir -d 'Use this data folder instead of the host\'s own' -r -F
complete -c mem0-code -n "__fish_mem0_code_using_subcommand status" -l harness -d 'Act for this host, such as `claude-code`' -r
complete -c mem0-code -n "__fish_mem0_code_using_subcommand status" -l json -d 'Print JSON'
complete -c mem0-code -n "__fish_mem0_code_using_subcommand status" -s h -l help -d 'Print help'
complete -c mem0-code -n "__fish_mem0_code_using_subcommand doctor" -l plugin-data-dir -d 'Use this data folder instead of the host\'s own' -r -F
complete -c mem0-code -n "__fish_mem0_code_using_subcommand doctor" -l harness -d 'Act for this host, such as `claude-code`' -r
complete -c mem0-code -n "__fish_mem0_code_using_subcommand doctor" -l json -d 'Print JSON'
complete -c mem0-code -n "__fish_mem0_code_using_subcommand doctor" -s h -l help -d 'Print help'
complete -c mem0-code -n "__fish_mem0_code_using_subcommand pause" -l plugin-data-dir -d 'Use this data folder instead of the host\'s own' -r -F
complete -c mem0-code -n "__fish_mem0_code_using_subcommand pause" -l harness -d 'Act for this host, such as `claude-code`' -r
complete -c mem0-code -n "__fish_mem0_code_using_subcommand pause" -l json -d 'Print JSON'
complete -c mem0-code -n "__fish_mem0_code_using_subcommand pause" -s h -l help -d 'Print help'
complete -c mem0-code -n "__fish_mem0_code_using_subcommand resume" -l plugin-data-dir -d 'Use this data folder instead of the host\'s own' -r -F
complete -c mem0-code -n "__fish_mem0_code_using_subcommand resume" -l harness -d 'Act for this host, such as `claude-code`' -r
complete -c mem0-code -n "__fish_mem0_code_using_subcommand resume" -l json -d 'Print JSON'
complete -c mem0-code -n "__fish_mem0_code_using_subcommand resume" -s h -l help -d 'Print help'
complete -c mem0-code -n "__fish_mem0_code_using_subcommand forget" -l plugin-data-dir -d 'Use this data folder instead of the host\'s own' -r -F
complete -c mem0-code -n "__fish_mem0_code_using_subcommand forget" -l harness -d 'Act for this host, such as `claude-code`' -r
complete -c mem0-code -n "__fish_mem0_code_using_subcommand forget" -l remote -d 'Also delete your memories of this repository where memories are kept'
complete -c mem0-code -n "__fish_mem0_code_using_subcommand forget" -l include-project-memory -d 'With `--remote`: also delete what is shared with everyone who works on the repository'
complete -c mem0-code -n "__fish_mem0_code_using_subcommand forget" -l preview -d 'Show what would be deleted'
complete -c mem0-code -n "__fish_mem0_code_using_subcommand forget" -l yes -d 'Really do it'
complete -c mem0-code -n "__fish_mem0_code_using_subcommand forget" -l json -d 'Print JSON; what was deleted always is'
complete -c mem0-code -n "__fish_mem0_code_using_subcommand forget" -s h -l help -d 'Print help'
complete -c mem0-code -n "__fish_mem0_code_using_subcommand handoff; and not __fish_seen_subcommand_from save list resume show convert verify export search command help" -l store -d 'The folder of resources instead of ~/.mem0/handoffs' -r -F
complete -c mem0-code -n "__fish_mem0_code_using_subcommand handoff; and not __fish_seen_subcommand_from save list resume show convert verify export search command help" -l plugin-data-dir -d 'Use this data folder instead of the host\'s own' -r -F
complete -c mem0-code -n "__fish_mem0_code_using_subcommand handoff; and not __fish_seen_subcommand_from save list resume show convert verify export search command help" -l harness -d 'Act for this host, such as `claude-code`' -r
complete -c mem0-code -n "__fish_mem0_code_using_subcommand handoff; and not __fish_seen_subcommand_from save list resume show convert verify export search command help" -s h -l help -d 'Print help'
complete -c mem0-code -n "__fish_mem0_code_using_subcommand handoff; and not __fish_seen_subcommand_from save list resume show convert verify export search command help" -f -a "save" -d 'Save a finished session as a resource that any agent can resume'
complete -c mem0-code -n "__fish_mem0_code_using_subcommand handoff; and not __fish_seen_subcommand_from save list resume show convert verify export search command help" -f -a "list" -d 'List the resources of a project, newest first'
complete -c mem0-code -n "__fish_mem0_code_using_subcommand handoff; and not __fish_seen_subcommand_from save list resume show convert verify export search command help" -f -a "resume" -d 'Print a resource as evidence for another agent, or go on with it in one'
complete -c mem0-code -n "__fish_mem0_code_using_subcommand handoff; and not __fish_seen_subcommand_from save list resume show convert verify export search command help" -f -a "show" -d 'Show what a resource is and how it ends'
complete -c mem0-code -n "__fish_mem0_code_using_subcommand handoff; and not __fish_seen_subcommand_from save list resume show convert verify export search command help" -f -a "convert" -d 'Print the document of a session without saving it'
complete -c mem0-code -n "__fish_mem0_code_using_subcommand handoff; and not __fish_seen_subcommand_from save list resume show convert verify export search command help" -f -a "verify" -d 'Check that resources are whole and valid'
complete -c mem0-code -n "__fish_mem0_code_using_subcommand handoff; and not __fish_seen_subcommand_from save list resume show convert verify export search command help" -f -a "export" -d 'Write a resource for people, without secrets'
complete -c mem0-code -n "__fish_mem0_code_using_subcommand handoff; and not __fish_seen_subcommand_from save list resume show convert verify export search command help" -f -a "search" -d 'Find resources by title, project, host and text; every word must stand in them'
complete -c mem0-code -n "__fish_mem0_code_using_subcommand handoff; and not __fish_seen_subcommand_from save list resume show convert verify export search command help" -f -a "command" -d 'Answer a slash command of a host: one JSON object on standard input, one on standard output'
complete -c mem0-code -n "__fish_mem0_code_using_subcommand handoff; and not __fish_seen_subcommand_from save list resume show convert verify export search command help" -f -a "help" -d 'Print this message or the help of the given subcommand(s)'
complete -c mem0-code -n "__fish_mem0_code_using_subcommand handoff; and __fish_seen_subcommand_from save" -l source -d 'The host whose session it is' -r
complete -c mem0-code -n "__fish_mem0_code_using_subcommand handoff; and __fish_seen_subcommand_from save" -l session -d 'The session\'s file, or its id where the host\'s folder is known' -r
complete -c mem0-code -n "__fish_mem0_code_using_subcommand handoff; and __fish_seen_subcommand_from save" -l bundle -d 'A document; `-` reads standard input' -r -F
complete -c mem0-code -n "__fish_mem0_code_using_subcommand handoff; and __fish_seen_subcommand_from save" -l messages -d 'Messages of a host; `-` reads standard input' -r -F
complete -c mem0-code -n "__fish_mem0_code_using_subcommand handoff; and __fish_seen_subcommand_from save" -l cwd -d 'The project' -r -F
complete -c mem0-code -n "__fish_mem0_code_using_subcommand handoff; and __fish_seen_subcommand_from save" -l title -d 'A title' -r
complete -c mem0-code -n "__fish_mem0_code_using_subcommand handoff; and __fish_seen_subcommand_from save" -l store -d 'The folder of resources instead of ~/.mem0/handoffs' -r -F
complete -c mem0-code -n "__fish_mem0_code_using_subcommand handoff; and __fish_seen_subcommand_from save" -l plugin-data-dir -d 'Use this data folder instead of the host\'s own' -r -F
complete -c mem0-code -n "__fish_mem0_code_using_subcommand handoff; and __fish_seen_subcommand_from save" -l harness -d 'Act for this host, such as `claude-code`' -r
complete -c mem0-code -n "__fish_mem0_code_using_subcommand handoff; and __fish_seen_subcommand_from save" -l allow-missing-results -d 'Mark results that the host did not record instead of refusing the session'
complete -c mem0-code -n "__fish_mem0_code_using_subcommand handoff; and __fish_seen_subcommand_from save" -l redact -d 'Take secrets out'
complete -c mem0-code -n "__fish_mem0_code_using_subcommand handoff; and __fish_seen_subcommand_from save" -l json -d 'Print JSON'
complete -c mem0-code -n "__fish_mem0_code_using_subcommand handoff; and __fish_seen_subcommand_from save" -s h -l help -d 'Print help'
complete -c mem0-code -n "__fish_mem0_code_using_subcommand handoff; and __fish_seen_subcommand_from list" -l cwd -d 'The project' -r -F
complete -c mem0-code -n "__fish_mem0_code_using_subcommand handoff; and __fish_seen_subcommand_from list" -l store -d 'The folder of resources instead of ~/.mem0/handoffs' -r -F
complete -c mem0-code -n "__fish_mem0_code_using_subcommand handoff; and __fish_seen_subcommand_from list" -l plugin-data-dir -d 'Use this data folder instead of the host\'s own' -r -F
complete -c mem0-code -n "__fish_mem0_code_using_subcommand handoff; and __fish_seen_subcommand_from list" -l harness -d 'Act for this host, such as `claude-code`' -r
complete -c mem0-code -n "__fish_mem0_code_using_subcommand handoff; and __fish_seen_subcommand_from list" -l all -d 'Of every project'
complete -c mem0-code -n "__fish_mem0_code_using_subcommand handoff; and __fish_seen_subcommand_from list" -l strict -d 'Fail when a file cannot be read'
complete -c mem0-code -n "__fish_mem0_code_using_subcommand handoff; and __fish_seen_subcommand_from list" -l json -d 'Print JSON'
complete -c mem0-code -n "__fish_mem0_code_using_subcommand handoff; and __fish_seen_subcommand_from list" -s h -l help -d 'Print help'
complete -c mem0-code -n "__fish_mem0_code_using_subcommand handoff; and __fish_seen_subcommand_from resume" -l cwd -d 'The project to go on in' -r -F
complete -c mem0-code -n "__fish_mem0_code_using_subcommand handoff; and __fish_seen_subcommand_from resume" -l into -d 'Write it as a session of this host and print the command that goes on with it' -r
complete -c mem0-code -n "__fish_mem0_code_using_subcommand handoff; and __fish_seen_subcommand_from resume" -l store -d 'The folder of resources instead of ~/.mem0/handoffs' -r -F
complete -c mem0-code -n "__fish_mem0_code_using_subcommand handoff; and __fish_seen_subcommand_from resume" -l plugin-data-dir -d 'Use this data folder instead of the host\'s own' -r -F
complete -c mem0-code -n "__fish_mem0_code_using_subcommand handoff; and __fish_seen_subcommand_from resume" -l harness -d 'Act for this host, such as `claude-code`' -r
complete -c mem0-code -n "__fish_mem0_code_using_subcommand handoff; and __fish_seen_subcommand_from resume" -l json -d 'Print JSON'
complete -c mem0-code -n "__fish_mem0_code_using_subcommand handoff; and __fish_seen_subcommand_from resume" -s h -l help -d 'Print help'
complete -c mem0-code -n "__fish_mem0_code_using_subcommand handoff; and __fish_seen_subcommand_from show" -l store -d 'The folder of resources instead of ~/.mem0/handoffs' -r -F
complete -c mem0-code -n "__fish_mem0_code_using_subcommand handoff; and __fish_seen_subcommand_from show" -l plugin-data-dir -d 'Use this data folder instead of the host\'s own' -r -F
complete -c mem0-code -n "__fish_mem0_code_using_subcommand handoff; and __fish_seen_subcommand_from show" -l harness -d 'Act for this host, such as `claude-code`' -r
complete -c mem0-code -n "__fish_mem0_code_using_subcommand handoff; and __fish_seen_subcommand_from show" -l json -d 'Print JSON'
complete -c mem0-code -n "__fish_mem0_code_using_subcommand handoff; and __fish_seen_subcommand_from show" -s h -l help -d 'Print help'
complete -c mem0-code -n "__fish_mem0_code_using_subcommand handoff; and __fish_seen_subcommand_from convert" -l source -d 'The host whose session it is' -r
complete -c mem0-code -n "__fish_mem0_code_using_subcommand handoff; and __fish_seen_subcommand_from convert" -l session -d 'The session\'s file, or its id where the host\'s folder is known' -r
complete -c mem0-code -n "__fish_mem0_code_using_subcommand handoff; and __fish_seen_subcommand_from convert" -l bundle -d 'A document; `-` reads standard input' -r -F
complete -c mem0-code -n "__fish_mem0_code_using_subcommand handoff; and __fish_seen_subcommand_from convert" -l messages -d 'Messages of a host; `-` reads standard input' -r -F
complete -c mem0-code -n "__fish_mem0_code_using_subcommand handoff; and __fish_seen_subcommand_from convert" -l cwd -d 'The project' -r -F
complete -c mem0-code -n "__fish_mem0_code_using_subcommand handoff; and __fish_seen_subcommand_from convert" -l title -d 'A title' -r
complete -c mem0-code -n "__fish_mem0_code_using_subcommand handoff; and __fish_seen_subcommand_from convert" -l store -d 'The folder of resources instead of ~/.mem0/handoffs' -r -F
complete -c mem0-code -n "__fish_mem0_code_using_subcommand handoff; and __fish_seen_subcommand_from convert" -l plugin-data-dir -d 'Use this data folder instead of the host\'s own' -r -F
complete -c mem0-code -n "__fish_mem0_code_using_subcommand handoff; and __fish_seen_subcommand_from convert" -l harness -d 'Act for this host, such as `claude-code`' -r
complete -c mem0-code -n "__fish_mem0_code_using_subcommand handoff; and __fish_seen_subcommand_from convert" -l allow-missing-results -d 'Mark results that the host did not record instead of refusing the session'
complete -c mem0-code -n "__fish_mem0_code_using_subcommand handoff; and __fish_seen_subcommand_from convert" -l redact -d 'Take secrets out'
complete -c mem0-code -n "__fish_mem0_code_using_subcommand handoff; and __fish_seen_subcommand_from convert" -l json -d 'Errors as JSON'
complete -c mem0-code -n "__fish_mem0_code_using_subcommand handoff; and __fish_seen_subcommand_from convert" -s h -l help -d 'Print help'
complete -c mem0-code -n "__fish_mem0_code_using_subcommand handoff; and __fish_seen_subcommand_from verify" -l store -d 'The folder of resources instead of ~/.mem0/handoffs' -r -F
complete -c mem0-code -n "__fish_mem0_code_using_subcommand handoff; and __fish_seen_subcommand_from verify" -l plugin-data-dir -d 'Use this data folder instead of the host\'s own' -r -F
complete -c mem0-code -n "__fish_mem0_code_using_subcommand handoff; and __fish_seen_subcommand_from verify" -l harness -d 'Act for this host, such as `claude-code`' -r
complete -c mem0-code -n "__fish_mem0_code_using_subcommand handoff; and __fish_seen_subcommand_from verify" -l json -d 'Print JSON'
complete -c mem0-code -n "__fish_mem0_code_using_subcommand handoff; and __fish_seen_subcommand_from verify" -s h -l help -d 'Print help'
complete -c mem0-code -n "__fish_mem0_code_using_subcommand handoff; and __fish_seen_subcommand_from export" -s o -l output -d 'Where to; a file that does not exist yet. Standard output otherwise' -r -F
complete -c mem0-code -n "__fish_mem0_code_using_subcommand handoff; and __fish_seen_subcommand_from export" -l store -d 'The folder of resources instead of ~/.mem0/handoffs' -r -F
complete -c mem0-code -n "__fish_mem0_code_using_subcommand handoff; and __fish_seen_subcommand_from export" -l plugin-data-dir -d 'Use this data folder instead of the host\'s own' -r -F
complete -c mem0-code -n "__fish_mem0_code_using_subcommand handoff; and __fish_seen_subcommand_from export" -l harness -d 'Act for this host, such as `claude-code`' -r
complete -c mem0-code -n "__fish_mem0_code_using_subcommand handoff; and __fish_seen_subcommand_from export" -l html -d 'As one HTML page instead of Markdown'
complete -c mem0-code -n "__fish_mem0_code_using_subcommand handoff; and __fish_seen_subcommand_from export" -l no-redact -d 'Keep secrets'
complete -c mem0-code -n "__fish_mem0_code_using_subcommand handoff; and __fish_seen_subcommand_from export" -s h -l help -d 'Print help'
complete -c mem0-code -n "__fish_mem0_code_using_subcommand handoff; and __fish_seen_subcommand_from search" -l cwd -d 'Only this project' -r -F
complete -c mem0-code -n "__fish_mem0_code_using_subcommand handoff; and __fish_seen_subcommand_from search" -l host -d 'Only this host' -r
complete -c mem0-code -n "__fish_mem0_code_using_subcommand handoff; and __fish_seen_subcommand_from search" -l store -d 'The folder of resources instead of ~/.mem0/handoffs' -r -F
complete -c mem0-code -n "__fish_mem0_code_using_subcommand handoff; and __fish_seen_subcommand_from search" -l plugin-data-dir -d 'Use this data folder instead of the host\'s own' -r -F
complete -c mem0-code -n "__fish_mem0_code_using_subcommand handoff; and __fish_seen_subcommand_from search" -l harness -d 'Act for this host, such as `claude-code`' -r
complete -c mem0-code -n "__fish_mem0_code_using_subcommand handoff; and __fish_seen_subcommand_from search" -l json -d 'Print JSON'
complete -c mem0-code -n "__fish_mem0_code_using_subcommand handoff; and __fish_seen_subcommand_from search" -s h -l help -d 'Print help'
complete -c mem0-code -n "__fish_mem0_code_using_subcommand handoff; and __fish_seen_subcommand_from command" -l store -d 'The folder of resources instead of ~/.mem0/handoffs' -r -F
complete -c mem0-code -n "__fish_mem0_code_using_subcommand handoff; and __fish_seen_subcommand_from command" -l plugin-data-dir -d 'Use this data folder instead of the host\'s own' -r -F
complete -c mem0-code -n "__fish_mem0_code_using_subcommand handoff; and __fish_seen_subcommand_from command" -l harness -d 'Act for this host, such as `claude-code`' -r
complete -c mem0-code -n "__fish_mem0_code_using_subcommand handoff; and __fish_seen_subcommand_from command" -s h -l help -d 'Print help'
complete -c mem0-code -n "__fish_mem0_code_using_subcommand handoff; and __fish_seen_subcommand_from help" -f -a "save" -d 'Save a finished session as a resource that any agent can resume'
complete -c mem0-code -n "__fish_mem0_code_using_subcommand handoff; and __fish_seen_subcommand_from help" -f -a "list" -d 'List the resources of a project, newest first'
complete -c mem0-code -n "__fish_mem0_code_using_subcommand handoff; and __fish_seen_subcommand_from help" -f -a "resume" -d 'Print a resource as evidence for another agent, or go on with it in one'
complete -c mem0-code -n "__fish_mem0_code_using_subcommand handoff; and __fish_seen_subcommand_from help" -f -a "show" -d 'Show what a resource is and how it ends'
complete -c mem0-code -n "__fish_mem0_code_using_subcommand handoff; and __fish_seen_subcommand_from help" -f -a "convert" -d 'Print the document of a session without saving it'
complete -c mem0-code -n "__fish_mem0_code_using_subcommand handoff; and __fish_seen_subcommand_from help" -f -a "verify" -d 'Check that resources are whole and valid'
complete -c mem0-code -n "__fish_mem0_code_using_subcommand handoff; and __fish_seen_subcommand_from help" -f -a "export" -d 'Write a resource for people, without secrets'
complete -c mem0-code -n "__fish_mem0_code_using_subcommand handoff; and __fish_seen_subcommand_from help" -f -a "search" -d 'Find resources by title, project, host and text; every word must stand in them'
complete -c mem0-code -n "__fish_mem0_code_using_subcommand handoff; and __fish_seen_subcommand_from help" -f -a "command" -d 'Answer a slash command of a host: one JSON object on standard input, one on standard output'
complete -c mem0-code -n "__fish_mem0_code_using_subcommand handoff; and __fish_seen_subcommand_from help" -f -a "help" -d 'Print this message or the help of the given subcommand(s)'
complete -c mem0-code -n "__fish_mem0_code_using_subcommand install" -l plugin-data-dir -d 'Use this data folder instead of the host\'s own' -r -F
complete -c mem0-code -n "__fish_mem0_code_using_subcommand install" -l harness -d 'Act for this host, such as `claude-code`' -r
complete -c mem0-code -n "__fish_mem0_code_using_subcommand install" -l all -d 'Every host found on this machine'
complete -c mem0-code -n "__fish_mem0_code_using_subcommand install" -l dry-run -d 'Show what would change and change nothing'
complete -c mem0-code -n "__fish_mem0_code_using_subcommand install" -s h -l help -d 'Print help'
complete -c mem0-code -n "__fish_mem0_code_using_subcommand uninstall" -l plugin-data-dir -d 'Use this data folder instead of the host\'s own' -r -F
complete -c mem0-code -n "__fish_mem0_code_using_subcommand uninstall" -l harness -d 'Act for this host, such as `claude-code`' -r
complete -c mem0-code -n "__fish_mem0_code_using_subcommand uninstall" -l all -d 'Every host found on this machine'
complete -c mem0-code -n "__fish_mem0_code_using_subcommand uninstall" -l dry-run -d 'Show what would change and change nothing'
complete -c mem0-code -n "__fish_mem0_code_using_subcommand uninstall" -s h -l help -d 'Print help'
complete -c mem0-code -n "__fish_mem0_code_using_subcommand config; and not __fish_seen_subcommand_from list get set help" -l plugin-data-dir -d 'Use this data folder instead of the host\'s own' -r -F
complete -c mem0-code -n "__fish_mem0_code_using_subcommand config; and not __fish_seen_subcommand_from list get set help" -l harness -d 'Act for this host, such as `claude-code`' -r
complete -c mem0-code -n "__fish_mem0_code_using_subcommand config; and not __fish_seen_subcommand_from list get set help" -s h -l help -d 'Print help'
complete -c mem0-code -n "__fish_mem0_code_using_subcommand config; and not __fish_seen_subcommand_from list get set help" -f -a "list" -d 'Show every setting with its value and where it comes from'
complete -c mem0-code -n "__fish_mem0_code_using_subcommand config; and not __fish_seen_subcommand_from list get set help" -f -a "get" -d 'Show one setting'
complete -c mem0-code -n "__fish_mem0_code_using_subcommand config; and not __fish_seen_subcommand_from list get set help" -f -a "set" -d 'Change a setting in code.toml'
complete -c mem0-code -n "__fish_mem0_code_using_subcommand config; and not __fish_seen_subcommand_from list get set help" -f -a "help" -d 'Print this message or the help of the given subcommand(s)'
complete -c mem0-code -n "__fish_mem0_code_using_subcommand config; and __fish_seen_subcommand_from list" -l plugin-data-dir -d 'Use this data folder instead of the host\'s own' -r -F
complete -c mem0-code -n "__fish_mem0_code_using_subcommand config; and __fish_seen_subcommand_from list" -l harness -d 'Act for this host, such as `claude-code`' -r
complete -c mem0-code -n "__fish_mem0_code_using_subcommand config; and __fish_seen_subcommand_from list" -l json -d 'Print JSON'
complete -c mem0-code -n "__fish_mem0_code_using_subcommand config; and __fish_seen_subcommand_from list" -s h -l help -d 'Print help'
complete -c mem0-code -n "__fish_mem0_code_using_subcommand config; and __fish_seen_subcommand_from get" -l plugin-data-dir -d 'Use this data folder instead of the host\'s own' -r -F
complete -c mem0-code -n "__fish_mem0_code_using_subcommand config; and __fish_seen_subcommand_from get" -l harness -d 'Act for this host, such as `claude-code`' -r
complete -c mem0-code -n "__fish_mem0_code_using_subcommand config; and __fish_seen_subcommand_from get" -l json -d 'Print JSON'
complete -c mem0-code -n "__fish_mem0_code_using_subcommand config; and __fish_seen_subcommand_from get" -s h -l help -d 'Print help'
complete -c mem0-code -n "__fish_mem0_code_using_subcommand config; and __fish_seen_subcommand_from set" -l plugin-data-dir -d 'Use this data folder instead of the host\'s own' -r -F
complete -c mem0-code -n "__fish_mem0_code_using_subcommand config; and __fish_seen_subcommand_from set" -l harness -d 'Act for this host, such as `claude-code`' -r
complete -c mem0-code -n "__fish_mem0_code_using_subcommand config; and __fish_seen_subcommand_from set" -s h -l help -d 'Print help'
complete -c mem0-code -n "__fish_mem0_code_using_subcommand config; and __fish_seen_subcommand_from help" -f -a "list" -d 'Show every setting with its value and where it comes from'
complete -c mem0-code -n "__fish_mem0_code_using_subcommand config; and __fish_seen_subcommand_from help" -f -a "get" -d 'Show one setting'
complete -c mem0-code -n "__fish_mem0_code_using_subcommand config; and __fish_seen_subcommand_from help" -f -a "set" -d 'Change a setting in code.toml'
complete -c mem0-code -n "__fish_mem0_code_using_subcommand config; and __fish_seen_subcommand_from help" -f -a "help" -d 'Print this message or the help of the given subcommand(s)'
complete -c mem0-code -n "__fish_mem0_code_using_subcommand demo" -l plugin-data-dir -d 'Use this data folder instead of the host\'s own' -r -F
complete -c mem0-code -n "__fish_mem0_code_using_subcommand demo" -l harness -d 'Act for this host, such as `claude-code`' -r
complete -c mem0-code -n "__fish_mem0_code_using_subcommand demo" -s h -l help -d 'Print help'
complete -c mem0-code -n "__fish_mem0_code_using_subcommand worker" -l plugin-data-dir -d 'Use this data folder instead of the host\'s own' -r -F
complete -c mem0-code -n "__fish_mem0_code_using_subcommand worker" -l harness -d 'Act for this host, such as `claude-code`' -r
complete -c mem0-code -n "__fish_mem0_code_using_subcommand worker" -l detached -d 'Leave the caller\'s session first'
complete -c mem0-code -n "__fish_mem0_code_using_subcommand worker" -s h -l help -d 'Print help'
complete -c mem0-code -n "__fish_mem0_code_using_subcommand telemetry; and not __fish_seen_subcommand_from show flush help" -l plugin-data-dir -d 'Use this data folder instead of the host\'s own' -r -F
complete -c mem0-code -n "__fish_mem0_code_using_subcommand telemetry; and not __fish_seen_subcommand_from show flush help" -l harness -d 'Act for this host, such as `claude-code`' -r
complete -c mem0-code -n "__fish_mem0_code_using_subcommand telemetry; and not __fish_seen_subcommand_from show flush help" -s h -l help -d 'Print help'
complete -c mem0-code -n "__fish_mem0_code_using_subcommand telemetry; and not __fish_seen_subcommand_from show flush help" -f -a "show" -d 'Show what would be sent'
complete -c mem0-code -n "__fish_mem0_code_using_subcommand telemetry; and not __fish_seen_subcommand_from show flush help" -f -a "flush" -d 'Send the spool once'
complete -c mem0-code -n "__fish_mem0_code_using_subcommand telemetry; and not __fish_seen_subcommand_from show flush help" -f -a "help" -d 'Print this message or the help of the given subcommand(s)'
complete -c mem0-code -n "__fish_mem0_code_using_subcommand telemetry; and __fish_seen_subcommand_from show" -l plugin-data-dir -d 'Use this data folder instead of the host\'s own' -r -F
complete -c mem0-code -n "__fish_mem0_code_using_subcommand telemetry; and __fish_seen_subcommand_from show" -l harness -d 'Act for this host, such as `claude-code`' -r
complete -c mem0-code -n "__fish_mem0_code_using_subcommand telemetry; and __fish_seen_subcommand_from show" -s h -l help -d 'Print help'
complete -c mem0-code -n "__fish_mem0_code_using_subcommand telemetry; and __fish_seen_subcommand_from flush" -l plugin-data-dir -d 'Use this data folder instead of the host\'s own' -r -F
complete -c mem0-code -n "__fish_mem0_code_using_subcommand telemetry; and __fish_seen_subcommand_from flush" -l harness -d 'Act for this host, such as `claude-code`' -r
complete -c mem0-code -n "__fish_mem0_code_using_subcommand telemetry; and __fish_seen_subcommand_from flush" -l detached -d 'Leave the caller\'s session first'
complete -c mem0-code -n "__fish_mem0_code_using_subcommand telemetry; and __fish_seen_subcommand_from flush" -s h -l help -d 'Print help'
complete -c mem0-code -n "__fish_mem0_code_using_subcommand telemetry; and __fish_seen_subcommand_from help" -f -a "show" -d 'Show what would be sent'
complete -c mem0-code -n "__fish_mem0_code_using_subcommand telemetry; and __fish_seen_subcommand_from help" -f -a "flush" -d 'Send the spool once'
complete -c mem0-code -n "__fish_mem0_code_using_subcommand telemetry; and __fish_seen_subcommand_from help" -f -a "help" -d 'Print this message or the help of the given subcommand(s)'
complete -c mem0-code -n "__fish_mem0_code_using_subcommand bundle; and not __fish_seen_subcommand_from build sync check validate help" -l plugin-data-dir -d 'Use this data folder instead of the host\'s own' -r -F
complete -c mem0-code -n "__fish_mem0_code_using_subcommand bundle; and not __fish_seen_subcommand_from build sync check validate help" -l harness -d 'Act for this host, such as `claude-code`' -r
complete -c mem0-code -n "__fish_mem0_code_using_subcommand bundle; and not __fish_seen_subcommand_from build sync check validate help" -s h -l help -d 'Print help'
complete -c mem0-code -n "__fish_mem0_code_using_subcommand bundle; and not __fish_seen_subcommand_from build sync check validate help" -f -a "build" -d 'Build one host\'s package'
complete -c mem0-code -n "__fish_mem0_code_using_subcommand bundle; and not __fish_seen_subcommand_from build sync check validate help" -f -a "sync" -d 'Write the committed packages anew'
complete -c mem0-code -n "__fish_mem0_code_using_subcommand bundle; and not __fish_seen_subcommand_from build sync check validate help" -f -a "check" -d 'Name every stale, missing or extra file of the committed packages'
complete -c mem0-code -n "__fish_mem0_code_using_subcommand bundle; and not __fish_seen_subcommand_from build sync check validate help" -f -a "validate" -d 'Check one package against its host\'s rules'
complete -c mem0-code -n "__fish_mem0_code_using_subcommand bundle; and not __fish_seen_subcommand_from build sync check validate help" -f -a "help" -d 'Print this message or the help of the given subcommand(s)'
complete -c mem0-code -n "__fish_mem0_code_using_subcommand bundle; and __fish_seen_subcommand_from build" -l out -d 'Where to' -r -F
complete -c mem0-code -n "__fish_mem0_code_using_subcommand bundle; and __fish_seen_subcommand_from build" -l target -d 'The platform of the binary to put inside' -r
complete -c mem0-code -n "__fish_mem0_code_using_subcommand bundle; and __fish_seen_subcommand_from build" -l binary -d 'The binary to put inside' -r -F
complete -c mem0-code -n "__fish_mem0_code_using_subcommand bundle; and __fish_seen_subcommand_from build" -l plugin-data-dir -d 'Use this data folder instead of the host\'s own' -r -F
complete -c mem0-code -n "__fish_mem0_code_using_subcommand bundle; and __fish_seen_subcommand_from build" -l harness -d 'Act for this host, such as `claude-code`' -r
complete -c mem0-code -n "__fish_mem0_code_using_subcommand bundle; and __fish_seen_subcommand_from build" -s h -l help -d 'Print help'
complete -c mem0-code -n "__fish_mem0_code_using_subcommand bundle; and __fish_seen_subcommand_from sync" -l root -d 'The root of the source tree' -r -F
complete -c mem0-code -n "__fish_mem0_code_using_subcommand bundle; and __fish_seen_subcommand_from sync" -l plugin-data-dir -d 'Use this data folder instead of the host\'s own' -r -F
complete -c mem0-code -n "__fish_mem0_code_using_subcommand bundle; and __fish_seen_subcommand_from sync" -l harness -d 'Act for this host, such as `claude-code`' -r
complete -c mem0-code -n "__fish_mem0_code_using_subcommand bundle; and __fish_seen_subcommand_from sync" -s h -l help -d 'Print help'
complete -c mem0-code -n "__fish_mem0_code_using_subcommand bundle; and __fish_seen_subcommand_from check" -l root -d 'The root of the source tree' -r -F
complete -c mem0-code -n "__fish_mem0_code_using_subcommand bundle; and __fish_seen_subcommand_from check" -l plugin-data-dir -d 'Use this data folder instead of the host\'s own' -r -F
complete -c mem0-code -n "__fish_mem0_code_using_subcommand bundle; and __fish_seen_subcommand_from check" -l harness -d 'Act for this host, such as `claude-code`' -r
complete -c mem0-code -n "__fish_mem0_code_using_subcommand bundle; and __fish_seen_subcommand_from check" -s h -l help -d 'Print help'
complete -c mem0-code -n "__fish_mem0_code_using_subcommand bundle; and __fish_seen_subcommand_from validate" -l plugin-data-dir -d 'Use this data folder instead of the host\'s own' -r -F
complete -c mem0-code -n "__fish_mem0_code_using_subcommand bundle; and __fish_seen_subcommand_from validate" -l harness -d 'Act for this host, such as `claude-code`' -r
complete -c mem0-code -n "__fish_mem0_code_using_subcommand bundle; and __fish_seen_subcommand_from validate" -s h -l help -d 'Print help'
complete -c mem0-code -n "__fish_mem0_code_using_subcommand bundle; and __fish_seen_subcommand_from help" -f -a "build" -d 'Build one host\'s package'
complete -c mem0-code -n "__fish_mem0_code_using_subcommand bundle; and __fish_seen_subcommand_from help" -f -a "sync" -d 'Write the committed packages anew'
complete -c mem0-code -n "__fish_mem0_code_using_subcommand bundle; and __fish_seen_subcommand_from help" -f -a "check" -d 'Name every stale, missing or extra file of the committed packages'
complete -c mem0-code -n "__fish_mem0_code_using_subcommand bundle; and __fish_seen_subcommand_from help" -f -a "validate" -d 'Check one package against its host\'s rules'
complete -c mem0-code -n "__fish_mem0_code_using_subcommand bundle; and __fish_seen_subcommand_from help" -f -a "help" -d 'Print this message or the help of the given subcommand(s)'
complete -c mem0-code -n "__fish_mem0_code_using_subcommand eval-engine" -l plugin-data-dir -d 'Use this data folder instead of the host\'s own' -r -F
complete -c mem0-code -n "__fish_mem0_code_using_subcommand eval-engine" -l harness -d 'Act for this host, such as `claude-code`' -r
complete -c mem0-code -n "__fish_mem0_code_using_subcommand eval-engine" -s h -l help -d 'Print help'
complete -c mem0-code -n "__fish_mem0_code_using_subcommand completions" -l plugin-data-dir -d 'Use this data folder instead of the host\'s own' -r -F
complete -c mem0-code -n "__fish_mem0_code_using_subcommand completions" -l harness -d 'Act for this host, such as `claude-code`' -r
complete -c mem0-code -n "__fish_mem0_code_using_subcommand completions" -s h -l help -d 'Print help'
complete -c mem0-code -n "__fish_mem0_code_using_subcommand man" -l plugin-data-dir -d 'Use this data folder instead of the host\'s own' -r -F
complete -c mem0-code -n "__fish_mem0_code_using_subcommand man" -l harness -d 'Act for this host, such as `claude-code`' -r
complete -c mem0-code -n "__fish_mem0_code_using_subcommand man" -s h -l help -d 'Print help'
complete -c mem0-code -n "__fish_mem0_code_using_subcommand generate" -l root -d 'The root of the source tree' -r -F
complete -c mem0-code -n "__fish_mem0_code_using_subcommand generate" -l plugin-data-dir -d 'Use this data folder instead of the host\'s own' -r -F
complete -c mem0-code -n "__fish_mem0_code_using_subcommand generate" -l harness -d 'Act for this host, such as `claude-code`' -r
complete -c mem0-code -n "__fish_mem0_code_using_subcommand generate" -l check -d 'Only tell what is stale, and fail when something is'
complete -c mem0-code -n "__fish_mem0_code_using_subcommand generate" -s h -l help -d 'Print help'
complete -c mem0-code -n "__fish_mem0_code_using_subcommand help; and not __fish_seen_subcommand_from hook mcp serve search add list get update delete history event status doctor pause resume forget handoff install uninstall config demo worker telemetry bundle eval-engine completions man generate help" -f -a "hook" -d 'What hosts call; reads one JSON object from standard input'
complete -c mem0-code -n "__fish_mem0_code_using_subcommand help; and not __fish_seen_subcommand_from hook mcp serve search add list get update delete history event status doctor pause resume forget handoff install uninstall config demo worker telemetry bundle eval-engine completions man generate help" -f -a "mcp" -d 'Serve the memory tools over MCP on standard input and output'
complete -c mem0-code -n "__fish_mem0_code_using_subcommand help; and not __fish_seen_subcommand_from hook mcp serve search add list get update delete history event status doctor pause resume forget handoff install uninstall config demo worker telemetry bundle eval-engine completions man generate help" -f -a "serve" -d 'Serve the Mem0 API over HTTP, for SDKs, plugins and teams'
complete -c mem0-code -n "__fish_mem0_code_using_subcommand help; and not __fish_seen_subcommand_from hook mcp serve search add list get update delete history event status doctor pause resume forget handoff install uninstall config demo worker telemetry bundle eval-engine completions man generate help" -f -a "search" -d 'Search the memories of this repository'
complete -c mem0-code -n "__fish_mem0_code_using_subcommand help; and not __fish_seen_subcommand_from hook mcp serve search add list get update delete history event status doctor pause resume forget handoff install uninstall config demo worker telemetry bundle eval-engine completions man generate help" -f -a "add" -d 'Store a fact now'
complete -c mem0-code -n "__fish_mem0_code_using_subcommand help; and not __fish_seen_subcommand_from hook mcp serve search add list get update delete history event status doctor pause resume forget handoff install uninstall config demo worker telemetry bundle eval-engine completions man generate help" -f -a "list" -d 'List the memories of this repository, newest first'
complete -c mem0-code -n "__fish_mem0_code_using_subcommand help; and not __fish_seen_subcommand_from hook mcp serve search add list get update delete history event status doctor pause resume forget handoff install uninstall config demo worker telemetry bundle eval-engine completions man generate help" -f -a "get" -d 'Show one memory'
complete -c mem0-code -n "__fish_mem0_code_using_subcommand help; and not __fish_seen_subcommand_from hook mcp serve search add list get update delete history event status doctor pause resume forget handoff install uninstall config demo worker telemetry bundle eval-engine completions man generate help" -f -a "update" -d 'Replace a memory\'s text; the old one stays in its history'
complete -c mem0-code -n "__fish_mem0_code_using_subcommand help; and not __fish_seen_subcommand_from hook mcp serve search add list get update delete history event status doctor pause resume forget handoff install uninstall config demo worker telemetry bundle eval-engine completions man generate help" -f -a "delete" -d 'Delete memories for good'
complete -c mem0-code -n "__fish_mem0_code_using_subcommand help; and not __fish_seen_subcommand_from hook mcp serve search add list get update delete history event status doctor pause resume forget handoff install uninstall config demo worker telemetry bundle eval-engine completions man generate help" -f -a "history" -d 'Show what happened to a memory'
complete -c mem0-code -n "__fish_mem0_code_using_subcommand help; and not __fish_seen_subcommand_from hook mcp serve search add list get update delete history event status doctor pause resume forget handoff install uninstall config demo worker telemetry bundle eval-engine completions man generate help" -f -a "event" -d 'Show how far a fact has come that a server accepted'
complete -c mem0-code -n "__fish_mem0_code_using_subcommand help; and not __fish_seen_subcommand_from hook mcp serve search add list get update delete history event status doctor pause resume forget handoff install uninstall config demo worker telemetry bundle eval-engine completions man generate help" -f -a "status" -d 'Show what is stored, what waits and what went wrong'
complete -c mem0-code -n "__fish_mem0_code_using_subcommand help; and not __fish_seen_subcommand_from hook mcp serve search add list get update delete history event status doctor pause resume forget handoff install uninstall config demo worker telemetry bundle eval-engine completions man generate help" -f -a "doctor" -d 'Check that everything memory needs is in order'
complete -c mem0-code -n "__fish_mem0_code_using_subcommand help; and not __fish_seen_subcommand_from hook mcp serve search add list get update delete history event status doctor pause resume forget handoff install uninstall config demo worker telemetry bundle eval-engine completions man generate help" -f -a "pause" -d 'Stop saving and searching until `resume`'
complete -c mem0-code -n "__fish_mem0_code_using_subcommand help; and not __fish_seen_subcommand_from hook mcp serve search add list get update delete history event status doctor pause resume forget handoff install uninstall config demo worker telemetry bundle eval-engine completions man generate help" -f -a "resume" -d 'Save and search again'
complete -c mem0-code -n "__fish_mem0_code_using_subcommand help; and not __fish_seen_subcommand_from hook mcp serve search add list get update delete history event status doctor pause resume forget handoff install uninstall config demo worker telemetry bundle eval-engine completions man generate help" -f -a "forget" -d 'Delete what is stored about this repository'
complete -c mem0-code -n "__fish_mem0_code_using_subcommand help; and not __fish_seen_subcommand_from hook mcp serve search add list get update delete history event status doctor pause resume forget handoff install uninstall config demo worker telemetry bundle eval-engine completions man generate help" -f -a "handoff" -d 'Save this session for another agent, and go on with one'
complete -c mem0-code -n "__fish_mem0_code_using_subcommand help; and not __fish_seen_subcommand_from hook mcp serve search add list get update delete history event status doctor pause resume forget handoff install uninstall config demo worker telemetry bundle eval-engine completions man generate help" -f -a "install" -d 'Wire hosts on this machine to mem0-code'
complete -c mem0-code -n "__fish_mem0_code_using_subcommand help; and not __fish_seen_subcommand_from hook mcp serve search add list get update delete history event status doctor pause resume forget handoff install uninstall config demo worker telemetry bundle eval-engine completions man generate help" -f -a "uninstall" -d 'Undo `install`; memories stay'
complete -c mem0-code -n "__fish_mem0_code_using_subcommand help; and not __fish_seen_subcommand_from hook mcp serve search add list get update delete history event status doctor pause resume forget handoff install uninstall config demo worker telemetry bundle eval-engine completions man generate help" -f -a "config" -d 'Show or change settings'
complete -c mem0-code -n "__fish_mem0_code_using_subcommand help; and not __fish_seen_subcommand_from hook mcp serve search add list get update delete history event status doctor pause resume forget handoff install uninstall config demo worker telemetry bundle eval-engine completions man generate help" -f -a "demo" -d 'Show a fact going from one agent\'s session into another\'s'
complete -c mem0-code -n "__fish_mem0_code_using_subcommand help; and not __fish_seen_subcommand_from hook mcp serve search add list get update delete history event status doctor pause resume forget handoff install uninstall config demo worker telemetry bundle eval-engine completions man generate help" -f -a "worker" -d 'Deliver a claimed packet, or every packet that waits'
complete -c mem0-code -n "__fish_mem0_code_using_subcommand help; and not __fish_seen_subcommand_from hook mcp serve search add list get update delete history event status doctor pause resume forget handoff install uninstall config demo worker telemetry bundle eval-engine completions man generate help" -f -a "telemetry" -d 'Look at or send the usage spool'
complete -c mem0-code -n "__fish_mem0_code_using_subcommand help; and not __fish_seen_subcommand_from hook mcp serve search add list get update delete history event status doctor pause resume forget handoff install uninstall config demo worker telemetry bundle eval-engine completions man generate help" -f -a "bundle" -d 'Build, synchronize and check the packages hosts load'
complete -c mem0-code -n "__fish_mem0_code_using_subcommand help; and not __fish_seen_subcommand_from hook mcp serve search add list get update delete history event status doctor pause resume forget handoff install uninstall config demo worker telemetry bundle eval-engine completions man generate help" -f -a "eval-engine" -d 'Answer the JSON Lines protocol of a retrieval benchmark on standard input and output'
complete -c mem0-code -n "__fish_mem0_code_using_subcommand help; and not __fish_seen_subcommand_from hook mcp serve search add list get update delete history event status doctor pause resume forget handoff install uninstall config demo worker telemetry bundle eval-engine completions man generate help" -f -a "completions" -d 'Print a completion script for a shell'
complete -c mem0-code -n "__fish_mem0_code_using_subcommand help; and not __fish_seen_subcommand_from hook mcp serve search add list get update delete history event status doctor pause resume forget handoff install uninstall config demo worker telemetry bundle eval-engine completions man generate help" -f -a "man" -d 'Print the manual page'
complete -c mem0-code -n "__fish_mem0_code_using_subcommand help; and not __fish_seen_subcommand_from hook mcp serve search add list get update delete history event status doctor pause resume forget handoff install uninstall config demo worker telemetry bundle eval-engine completions man generate help" -f -a "generate" -d 'Write the generated reference pages and packages'
complete -c mem0-code -n "__fish_mem0_code_using_subcommand help; and not __fish_seen_subcommand_from hook mcp serve search add list get update delete history event status doctor pause resume forget handoff install uninstall config demo worker telemetry bundle eval-engine completions man generate help" -f -a "help" -d 'Print this message or the help of the given subcommand(s)'
complete -c mem0-code -n "__fish_mem0_code_using_subcommand help; and __fish_seen_subcommand_from serve" -f -a "token" -d 'Make a token for a person and print it once'
complete -c mem0-code -n "__fish_mem0_code_using_subcommand help; and __fish_seen_subcommand_from handoff" -f -a "save" -d 'Save a finished session as a resource that any agent can resume'
complete -c mem0-code -n "__fish_mem0_code_using_subcommand help; and __fish_seen_subcommand_from handoff" -f -a "list" -d 'List the resources of a project, newest first'
complete -c mem0-code -n "__fish_mem0_code_using_subcommand help; and __fish_seen_subcommand_from handoff" -f -a "resume" -d 'Print a resource as evidence for another agent, or go on with it in one'
complete -c mem0-code -n "__fish_mem0_code_using_subcommand help; and __fish_seen_subcommand_from handoff" -f -a "show" -d 'Show what a resource is and how it ends'
complete -c mem0-code -n "__fish_mem0_code_using_subcommand help; and __fish_seen_subcommand_from handoff" -f -a "convert" -d 'Print the document of a session without saving it'
complete -c mem0-code -n "__fish_mem0_code_using_subcommand help; and __fish_seen_subcommand_from handoff" -f -a "verify" -d 'Check that resources are whole and valid'
complete -c mem0-code -n "__fish_mem0_code_using_subcommand help; and __fish_seen_subcommand_from handoff" -f -a "export" -d 'Write a resource for people, without secrets'
complete -c mem0-code -n "__fish_mem0_code_using_subcommand help; and __fish_seen_subcommand_from handoff" -f -a "search" -d 'Find resources by title, project, host and text; every word must stand in them'
complete -c mem0-code -n "__fish_mem0_code_using_subcommand help; and __fish_seen_subcommand_from handoff" -f -a "command" -d 'Answer a slash command of a host: one JSON object on standard input, one on standard output'
complete -c mem0-code -n "__fish_mem0_code_using_subcommand help; and __fish_seen_subcommand_from config" -f -a "list" -d 'Show every setting with its value and where it comes from'
complete -c mem0-code -n "__fish_mem0_code_using_subcommand help; and __fish_seen_subcommand_from config" -f -a "get" -d 'Show one setting'
complete -c mem0-code -n "__fish_mem0_code_using_subcommand help; and __fish_seen_subcommand_from config" -f -a "set" -d 'Change a setting in code.toml'
complete -c mem0-code -n "__fish_mem0_code_using_subcommand help; and __fish_seen_subcommand_from telemetry" -f -a "show" -d 'Show what would be sent'
complete -c mem0-code -n "__fish_mem0_code_using_subcommand help; and __fish_seen_subcommand_from telemetry" -f -a "flush" -d 'Send the spool once'
complete -c mem0-code -n "__fish_mem0_code_using_subcommand help; and __fish_seen_subcommand_from bundle" -f -a "build" -d 'Build one host\'s package'
complete -c mem0-code -n "__fish_mem0_code_using_subcommand help; and __fish_seen_subcommand_from bundle" -f -a "sync" -d 'Write the committed packages anew'
complete -c mem0-code -n "__fish_mem0_code_using_subcommand help; and __fish_seen_subcommand_from bundle" -f -a "check" -d 'Name every stale, missing or extra file of the committed packages'
complete -c mem0-code -n "__fish_mem0_code_using_subcommand help; and __fish_seen_subcommand_from bundle" -f -a "validate" -d 'Check one package against its host\'s rules'
