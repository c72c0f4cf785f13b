// What packages say to `mem0-code hook <host> <event>`. The other half is `crates/core/src/hosts/shim.rs`.

export type EventName = "session-start" | "prompt" | "reminder" | "tool" | "turn-end" | "pre-compact" | "session-end";

export interface Payload {
  session_id: string;
  cwd?: string | undefined;
  transcript_path?: string | undefined;
  reason?: string | undefined;
  model?: string | undefined;
  prompt?: string | undefined;
  tool?: ToolCall | undefined;
  messages?: Message[] | undefined;
  /** Only a `completed` turn is kept. */
  outcome?: string | undefined;
}

export interface ToolCall {
  name: string;
  input: unknown;
  output?: string | undefined;
  exit_code?: number | undefined;
  failed?: boolean | undefined;
  duration_ms?: number | undefined;
}

export interface Message {
  role: string;
  content: string;
  stop_reason?: string | undefined;
}

/** Longest text passed on, in characters. What of it is kept is the binary's business; this bounds the pipe alone. */
const MAX_CHARS = 1_000_000;
/** Longest tool output passed on, in characters: far more than is kept of one. */
const MAX_OUTPUT_CHARS = 60_000;

/** The text of a message's content: a string, or blocks of which only those of text count. */
export function textOf(content: unknown): string {
  if (typeof content === "string") return cut(content, MAX_CHARS);
  if (!Array.isArray(content)) return "";
  const texts = content
    .filter((block): block is { text: string } => isRecord(block) && block["type"] === "text" && typeof block["text"] === "string")
    .map((block) => block.text);
  return cut(texts.join("\n"), MAX_CHARS);
}

/** A host's message in the protocol's shape; `undefined` when it is not one of a person or a model. */
export function messageOf(message: unknown): Message | undefined {
  if (!isRecord(message) || (message["role"] !== "user" && message["role"] !== "assistant")) return undefined;
  const content = textOf(message["content"]);
  const stop = message["stopReason"];
  return { role: message["role"], content, ...(typeof stop === "string" ? { stop_reason: stop } : {}) };
}

export function messagesOf(messages: unknown): Message[] {
  if (!Array.isArray(messages)) return [];
  return messages.map(messageOf).filter((message): message is Message => message !== undefined);
}

/** A tool's output without its middle when it is long. */
export function outputOf(content: unknown): string {
  const text = textOf(content);
  if (text.length <= MAX_OUTPUT_CHARS) return text;
  return `${text.slice(0, MAX_OUTPUT_CHARS / 2)}\n…\n${text.slice(-MAX_OUTPUT_CHARS / 2)}`;
}

export function isRecord(value: unknown): value is Record<string, unknown> {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

export function numberOf(value: unknown): number | undefined {
  return typeof value === "number" && Number.isFinite(value) ? value : undefined;
}

function cut(text: string, limit: number): string {
  return text.length <= limit ? text : text.slice(0, limit);
}
