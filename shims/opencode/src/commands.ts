// Slash commands: prompts for the model, which has the tools.

interface Command {
  description: string;
  template: string;
}

const command = (description: string, template: string): Command => ({ description, template });

export const COMMANDS: Record<string, Command> = {
  "mem0-remember": command(
    "Store one fact in memory now",
    "Store this fact with the tool add_memory, as one sentence that will make sense months from now, without passwords, tokens " +
      "or keys. Say it is stored only when the tool said so.\n\n$ARGUMENTS",
  ),
  "mem0-search": command(
    "Search the memory of earlier sessions",
    "Search memory with the tool search_memories for this, as one focused question, and tell what was found:\n\n$ARGUMENTS",
  ),
  "mem0-tour": command("Show what is remembered about this project", "List the memories of this project with the tool get_memories and group them by subject."),
  "mem0-status": command("Show whether memory works here and what it holds", "Call the tool memory_status with action `status` and report what it says, nothing else."),
  "mem0-pause": command("Stop saving and searching memories in OpenCode", "Call the tool memory_status with action `pause` and repeat its answer."),
  "mem0-resume": command("Save and search memories in OpenCode again", "Call the tool memory_status with action `resume` and repeat its answer."),
  "mem0-scope": command("Show how far a search reaches, or set it: repo, dir or mine", "Call the tool memory_status with action `scope` and value `$ARGUMENTS`, and repeat its answer."),
  "mem0-forget": command(
    "Delete memories",
    "The user wants memories deleted: $ARGUMENTS\n\nWith a subject, find them with search_memories, show them with their ids, and call " +
      "delete_memory for those the user then names. Without one, call delete_all_memories: it shows the user what would go and asks.",
  ),
  "mem0-context-loader": command(
    "Load what is known about a subject before starting",
    "Search memory with search_memories for what earlier sessions know about this, and begin from there:\n\n$ARGUMENTS",
  ),
  "mem0-handoff": command(
    "Hand this session to another agent: save, list, or resume <path>",
    "Call the tool mem0_handoff once. The first word of the arguments is its `action` (none means save), all that follows it its " +
      "`resource`, spaces included. Then tell the user what it said; after a resume, continue from that history without repeating " +
      "its tool calls.\n\nArguments: $ARGUMENTS",
  ),
};
