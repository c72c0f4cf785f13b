// What a model request says, whatever its dialect: the conversation without tool descriptions, the results
// of tools, and the blocks of memory mem0-code put there.

/** The markers mem0-code puts around what it injects (`core::context`). */
export const FENCE = /<mem0-memory\b[^>]*>[\s\S]*?<\/mem0-memory>/g;

/** Every text of the conversation, in order: system, user, developer, assistant, tool results. */
export function texts({ body }) {
  return strings([body.system, body.messages, body.instructions, body.input]);
}

/** The fenced memory blocks of a request, each as it stands there. */
export function fences(request) {
  return texts(request).flatMap((text) => text.match(FENCE) ?? []);
}

/** Whether the conversation holds this text anywhere. */
export function mentions(request, text) {
  return texts(request).some((one) => one.includes(text));
}

/** The texts of every tool result in the request, one string a result. */
export function toolResults({ body }) {
  const anthropic = (body.messages ?? []).flatMap((message) => (Array.isArray(message.content) ? message.content : []));
  return [
    ...anthropic.filter((block) => block.type === 'tool_result').map((block) => block.content),
    ...(body.messages ?? []).filter((message) => message.role === 'tool').map((message) => message.content),
    ...(body.input ?? []).filter((item) => /_call_output$/.test(item.type ?? '')).map((item) => item.output),
  ].map((content) => strings([content]).join('\n'));
}

/** The first text a user sent in this conversation that is not the host's own preamble. */
export function opening({ body }) {
  const message = (body.messages ?? body.input ?? []).filter((item) => item.role === 'user');
  return strings(message).join('\n');
}

function strings(value) {
  if (typeof value === 'string') return [value];
  if (Array.isArray(value)) return value.flatMap(strings);
  if (value && typeof value === 'object') return Object.entries(value).flatMap(([key, inner]) => (key === 'type' || key === 'id' ? [] : strings(inner)));
  return [];
}
