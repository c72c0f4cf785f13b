// A stand-in for mem0-code, for `conformance/run --probe`: as a hook it writes down what the host gave it,
// as an MCP server (`recorder.mjs LOG mcp LABEL`) it offers one tool and writes down how it was started.
//
//   node recorder.mjs LOG hook LABEL EVENT      node recorder.mjs LOG mcp LABEL

import { appendFileSync, readFileSync } from 'node:fs';
import { createInterface } from 'node:readline';

const [log, role, label, event] = process.argv.slice(2);
const env = Object.fromEntries(
  Object.entries(process.env).filter(([name]) => /^(CLAUDE_(PLUGIN|PROJECT|CONFIG)|PLUGIN|CODEX|MEM0|HOME$)/.test(name)),
);
const keep = (entry) => appendFileSync(log, `${JSON.stringify({ role, label, event, ...entry })}\n`);

if (role === 'hook') {
  const text = readFileSync(0, 'utf8');
  keep({ argv: process.argv.slice(2), cwd: process.cwd(), env, input: JSON.parse(text || '{}') });
  if (event === 'UserPromptSubmit') {
    const additionalContext = `probe-context-${label}`;
    console.log(JSON.stringify({ hookSpecificOutput: { hookEventName: event, additionalContext } }));
  }
} else {
  keep({ started: true, argv: process.argv.slice(2), cwd: process.cwd(), env });
  const reply = (id, result) => console.log(JSON.stringify({ jsonrpc: '2.0', id, result }));
  for await (const line of createInterface({ input: process.stdin })) {
    const message = JSON.parse(line);
    keep({ method: message.method, params: message.params });
    if (message.id === undefined) continue;
    if (message.method === 'initialize') {
      const { protocolVersion } = message.params;
      reply(message.id, { protocolVersion, capabilities: { tools: {} }, serverInfo: { name: 'probe', version: '0' } });
    } else if (message.method === 'tools/list') {
      const inputSchema = { type: 'object', properties: { query: { type: 'string' } } };
      reply(message.id, { tools: [{ name: 'search_memories', description: 'Probe.', inputSchema }] });
    } else if (message.method === 'tools/call') {
      reply(message.id, { content: [{ type: 'text', text: `probe-result-${label}` }] });
    } else {
      console.log(JSON.stringify({ jsonrpc: '2.0', id: message.id, error: { code: -32601, message: 'not found' } }));
    }
  }
}
