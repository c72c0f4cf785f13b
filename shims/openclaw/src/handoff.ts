// The session to hand over. The host keeps it in its own database; it is read through the host where that works, else it
// is what the last turn left here.

import type { SessionForm } from "../../common/src/handoff.ts";
import { isRecord } from "../../common/src/protocol.ts";
import type { About, Sessions } from "./sessions.ts";

/** The host's own reader. Named at run time: it is the host's, and not every version has it. */
const READER = ["openclaw", "plugin-sdk", "session-transcript-runtime"].join("/");

export async function collect(about: About, sessions: Sessions, callId?: string): Promise<SessionForm | string> {
  const id = about.sessionId ?? about.sessionKey;
  if (!id) return "the host does not say which session this is.";
  const messages = (await read(about)) ?? sessions.messages(about);
  if (!messages || messages.length === 0) return "nothing was said in this session since the host started.";
  const cwd = about.workspaceDir ?? sessions.folder(id) ?? process.cwd();
  return {
    messages: {
      source: { host: "openclaw", session_id: id, title: `OpenClaw session ${id}`, cwd },
      ...(callId ? { exclude_call_id: callId } : {}),
      messages: messages.filter(isConversation),
    },
  };
}

async function read({ agentId, sessionKey, sessionId }: About): Promise<unknown[] | undefined> {
  if (!sessionId || !sessionKey) return undefined;
  try {
    const reader: unknown = await import(READER);
    const list = isRecord(reader) || typeof reader === "object" ? (reader as Record<string, unknown>)["readVisibleSessionTranscriptMessageEntries"] : undefined;
    if (typeof list !== "function") return undefined;
    const read: unknown = await list({ agentId, sessionKey, sessionId });
    const entries = Array.isArray(read) ? read : isRecord(read) && Array.isArray(read["entries"]) ? read["entries"] : [];
    const messages = entries.map((entry) => (isRecord(entry) ? entry["message"] : undefined)).filter(isRecord);
    return messages.length > 0 ? messages : undefined;
  } catch {
    return undefined;
  }
}

/** What the host itself adds to a conversation is not handed over. */
function isConversation(message: unknown): boolean {
  return isRecord(message) && ["user", "assistant", "toolResult"].includes(String(message["role"]));
}
