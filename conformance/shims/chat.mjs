// The third dialect of the scripted model: OpenAI Chat Completions, streamed, as OpenCode, Pi, OpenClaw and the DeepSeek
// Harness speak it.

import { randomBytes } from 'node:crypto';

const id = (prefix) => prefix + randomBytes(12).toString('hex');

export const chat = {
  name: 'chat',
  path: '/chat/completions',
  tools(body) {
    const functions = (body.tools ?? []).map((tool) => tool.function ?? tool).filter((tool) => tool.name);
    return new Map(functions.map((tool) => [tool.name, { schema: tool.parameters }]));
  },
  answer(response, body, step) {
    const text = step.call ? step.say : step.text ?? '';
    const usage = {
      prompt_tokens: step.usage?.input ?? 10, completion_tokens: step.usage?.output ?? 5,
      total_tokens: (step.usage?.input ?? 10) + (step.usage?.output ?? 5),
    };
    const reason = step.call ? 'tool_calls' : 'stop';
    const calls = step.call && [
      { id: id('call_'), type: 'function', function: { name: step.call.name, arguments: JSON.stringify(step.args) } },
    ];
    const base = { id: id('chatcmpl-'), created: Math.floor(Date.now() / 1000), model: body.model ?? 'scripted' };
    if (!body.stream) {
      const message = { role: 'assistant', content: text ?? null, ...(calls && { tool_calls: calls }) };
      response.writeHead(200, { 'content-type': 'application/json' });
      response.end(JSON.stringify({ ...base, object: 'chat.completion', choices: [{ index: 0, message, finish_reason: reason }], usage }));
      return;
    }
    response.writeHead(200, { 'content-type': 'text/event-stream', connection: 'close' });
    const send = (delta, finish = null, extra = {}) => {
      const chunk = { ...base, object: 'chat.completion.chunk', choices: [{ index: 0, delta, finish_reason: finish }], ...extra };
      response.write(`data: ${JSON.stringify(chunk)}\n\n`);
    };
    send({ role: 'assistant', content: '' });
    if (text) send({ content: text });
    if (calls) send({ tool_calls: calls.map((call, index) => ({ index, ...call })) });
    send({}, reason, { usage });
    if (body.stream_options?.include_usage) {
      response.write(`data: ${JSON.stringify({ ...base, object: 'chat.completion.chunk', choices: [], usage })}\n\n`);
    }
    response.end('data: [DONE]\n\n');
  },
};
