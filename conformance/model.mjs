// The scripted model: a loopback server that stands in for a model vendor, so that a real, unmodified
// host runs a whole session offline and we can read, byte for byte, what reached the model.
//
// It speaks the three streaming dialects our hosts use, Anthropic Messages (with count_tokens), OpenAI
// Responses and OpenAI Chat Completions. Every request is kept in memory and appended to a JSON Lines log before it is answered, so
// a host that is killed while it waits still leaves its request behind. Credentials are never kept.
//
// A script is a list of steps, taken in order by the requests that offer tools:
//   { text }                      ends the turn with this text
//   { tool, args, say? }          calls a tool the host offered; `tool` is a name or a RegExp, and "shell"
//                                 stands for whatever the host calls its shell. A tool the host keeps
//                                 behind ToolSearch is selected first, without spending the step; `args`
//                                 may be a function of the request's body
//   when: (body) => boolean       only a request for which this holds takes the step
//   untooled: true                only a request that offers no tools takes the step (a summary, a title)
//   delayMs, status, usage        wait first; answer with this HTTP status; claim these token counts
// A request no step fits is answered with the text "ok".

import { appendFileSync } from 'node:fs';
import { createServer } from 'node:http';
import { randomBytes } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import { gunzipSync } from 'node:zlib';

const SHELLS = ['bash', 'exec_command', 'shell_command', 'shell', 'local_shell'];
const KEPT_HEADERS = ['user-agent', 'content-type', 'anthropic-version', 'anthropic-beta', 'session_id'];

/**
 * Starts the server on a free loopback port.
 * @param {{log: string}} options `log`: path of the JSON Lines file that gets every request.
 * @returns {Promise<Model>} listening; end it with `close()`.
 */
export async function startModel({ log }) {
  const model = new Model(log);
  await model.listen();
  return model;
}

/** A running scripted model. `requests` holds `{session, path, body, messages}` in order of arrival. */
export class Model {
  requests = [];
  #log;
  #server;
  #steps = [];
  #session = '';

  constructor(log) {
    this.#log = log;
    this.#server = createServer((request, response) => {
      this.#serve(request, response).catch((error) => {
        if (!response.headersSent) response.writeHead(500);
        response.end(String(error));
      });
    });
  }

  /** Base URL without a path, for example `http://127.0.0.1:40123`. */
  get url() {
    return `http://127.0.0.1:${this.#server.address().port}`;
  }

  /** Starts a new session: later requests carry `name`, and `steps` replaces what is left of the last script. */
  begin(name, steps) {
    this.#session = name;
    this.#steps = [...steps];
  }

  /** Steps of the running script that no request took. */
  get left() {
    return this.#steps.length;
  }

  /** The model requests of one session (those that ask for an answer, not token counts or model lists). */
  of(session) {
    return this.requests.filter((request) => request.session === session && request.dialect);
  }

  async listen() {
    await new Promise((done, failed) => {
      this.#server.once('error', failed);
      this.#server.listen(0, '127.0.0.1', done);
    });
  }

  async close() {
    this.#server.closeAllConnections?.();
    await new Promise((done) => this.#server.close(done));
  }

  async #serve(request, response) {
    const path = request.url.split('?')[0];
    if (request.method !== 'POST') {
      const list = { object: 'list', data: [{ id: 'scripted', object: 'model', owned_by: 'local' }], models: [] };
      return sendJson(response, path.includes('/models') ? list : {});
    }
    const body = await readBody(request);
    const dialect = DIALECTS.find((each) => path.endsWith(each.path));
    this.#keep({ session: this.#session, path, dialect: dialect?.name, headers: kept(request.headers), body });
    if (!dialect) {
      return sendJson(response, path.endsWith('/count_tokens') ? { input_tokens: 100 } : {});
    }
    const offered = dialect.tools(body);
    const step = this.#next(offered, body);
    if (step.delayMs) await sleep(step.delayMs);
    if (step.status) {
      return sendJson(response, { type: 'error', error: { type: 'api_error', message: 'scripted failure' } }, step.status);
    }
    return dialect.answer(response, body, step);
  }

  #keep(entry) {
    this.requests.push(entry);
    appendFileSync(this.#log, `${JSON.stringify({ at: new Date().toISOString(), ...entry })}\n`);
  }

  #next(offered, body) {
    const untooled = offered.size === 0;
    const index = this.#steps.findIndex((step) => Boolean(step.untooled) === untooled && (!step.when || step.when(body)));
    if (index < 0) return { text: 'ok' };
    const step = this.#steps[index];
    if (!step.tool) {
      this.#steps.splice(index, 1);
      return step;
    }
    const name = findTool(step.tool, offered);
    if (name) {
      this.#steps.splice(index, 1);
      const args = typeof step.args === 'function' ? step.args(body) : step.args ?? {};
      return { ...step, call: { name, ...offered.get(name) }, args: fitted(args, offered.get(name)) };
    }
    const deferred = !step.searched && offered.has('ToolSearch') && deferredName(step.tool, JSON.stringify(body));
    if (deferred) {
      step.searched = true;
      return { call: { name: 'ToolSearch' }, args: { query: `select:${deferred}`, max_results: 5 } };
    }
    this.#steps.splice(index, 1);
    return { text: `(the script wants the tool ${step.tool}; offered: ${[...offered.keys()].join(', ')})` };
  }
}

function findTool(wanted, offered) {
  const names = [...offered.keys()];
  if (wanted === 'shell') return names.find((name) => SHELLS.includes(name.toLowerCase()));
  return names.find((name) => {
    const full = offered.get(name).namespace ? `${offered.get(name).namespace}__${name}` : name;
    return wanted instanceof RegExp ? wanted.test(name) || wanted.test(full) : name === wanted || full === wanted;
  });
}

/** A tool name that is only mentioned in the conversation, the way deferred tools are announced. */
function deferredName(wanted, text) {
  if (!(wanted instanceof RegExp)) return text.includes(wanted) ? wanted : undefined;
  return (text.match(/mcp__[A-Za-z0-9_-]+/g) ?? []).find((name) => wanted.test(name));
}

/** Fits the script's arguments to the host's own schema of its shell. */
function fitted(args, tool) {
  const properties = tool.schema?.properties ?? {};
  const out = { ...args };
  if ('command' in out && !('command' in properties) && 'cmd' in properties) {
    out.cmd = out.command;
    delete out.command;
  } else if (properties.command?.type === 'array' && typeof out.command === 'string') {
    out.command = ['bash', '-lc', out.command];
  }
  for (const name of tool.schema?.required ?? []) {
    if (!(name in out) && name === 'description') out[name] = 'a step of the session';
  }
  return out;
}

function kept(headers) {
  return Object.fromEntries(KEPT_HEADERS.filter((name) => name in headers).map((name) => [name, headers[name]]));
}

async function readBody(request) {
  const chunks = [];
  for await (const chunk of request) chunks.push(chunk);
  const raw = Buffer.concat(chunks);
  try {
    return JSON.parse(request.headers['content-encoding'] === 'gzip' ? gunzipSync(raw) : raw);
  } catch {
    return { unparsed: raw.subarray(0, 2000).toString('latin1') };
  }
}

function sendJson(response, value, status = 200) {
  response.writeHead(status, { 'content-type': 'application/json' });
  response.end(JSON.stringify(value));
}

/** An open event stream; `send` writes one server-sent event named by its `type`. */
function openStream(response) {
  response.writeHead(200, { 'content-type': 'text/event-stream', connection: 'close' });
  return (event) => response.write(`event: ${event.type}\ndata: ${JSON.stringify(event)}\n\n`);
}

const id = (prefix) => prefix + randomBytes(12).toString('hex');
const counts = (step) => ({ input: step.usage?.input ?? 10, output: step.usage?.output ?? 5 });
const spoken = (step) => (step.call ? step.say : step.text ?? '');

const anthropic = {
  name: 'anthropic',
  path: '/messages',
  tools(body) {
    return new Map((body.tools ?? []).filter((tool) => tool.name).map((tool) => [tool.name, { schema: tool.input_schema }]));
  },
  answer(response, body, step) {
    const blocks = [];
    if (spoken(step) !== undefined) blocks.push({ type: 'text', text: spoken(step) });
    if (step.call) blocks.push({ type: 'tool_use', id: id('toolu_'), name: step.call.name, input: step.args });
    const stop = step.call ? 'tool_use' : 'end_turn';
    const { input, output } = counts(step);
    const usage = { input_tokens: input, output_tokens: output, cache_creation_input_tokens: 0, cache_read_input_tokens: 0 };
    const message = {
      id: id('msg_'), type: 'message', role: 'assistant', model: body.model ?? 'scripted',
      content: [], stop_reason: null, stop_sequence: null, usage,
    };
    if (!body.stream) return sendJson(response, { ...message, content: blocks, stop_reason: stop });
    const send = openStream(response);
    send({ type: 'message_start', message });
    blocks.forEach((block, index) => {
      const isText = block.type === 'text';
      send({ type: 'content_block_start', index, content_block: isText ? { type: 'text', text: '' } : { ...block, input: {} } });
      const delta = isText
        ? { type: 'text_delta', text: block.text }
        : { type: 'input_json_delta', partial_json: JSON.stringify(block.input) };
      send({ type: 'content_block_delta', index, delta });
      send({ type: 'content_block_stop', index });
    });
    send({ type: 'message_delta', delta: { stop_reason: stop, stop_sequence: null }, usage });
    send({ type: 'message_stop' });
    response.end();
  },
};

const responses = {
  name: 'responses',
  path: '/responses',
  tools(body) {
    const offered = new Map();
    for (const tool of body.tools ?? []) {
      if (tool.type === 'namespace') {
        for (const inner of tool.tools ?? []) offered.set(inner.name, { schema: inner.parameters, namespace: tool.name });
      } else {
        offered.set(tool.name ?? tool.type, { schema: tool.parameters, custom: tool.type === 'custom' });
      }
    }
    return offered;
  },
  answer(response, body, step) {
    const items = [];
    if (spoken(step) !== undefined) {
      items.push({
        type: 'message', id: id('msg_'), role: 'assistant', status: 'completed',
        content: [{ type: 'output_text', text: spoken(step), annotations: [] }],
      });
    }
    if (step.call?.custom) {
      const call = { id: id('ctc_'), call_id: id('call_'), name: step.call.name, status: 'completed' };
      items.push({ type: 'custom_tool_call', ...call, input: step.args.input ?? '' });
    } else if (step.call) {
      const call = { id: id('fc_'), call_id: id('call_'), name: step.call.name, status: 'completed' };
      const namespace = step.call.namespace ? { namespace: step.call.namespace } : {};
      items.push({ type: 'function_call', ...call, ...namespace, arguments: JSON.stringify(step.args) });
    }
    const { input, output } = counts(step);
    const usage = {
      input_tokens: input, input_tokens_details: { cached_tokens: 0 },
      output_tokens: output, output_tokens_details: { reasoning_tokens: 0 }, total_tokens: input + output,
    };
    const base = {
      id: id('resp_'), object: 'response', created_at: Math.floor(Date.now() / 1000),
      model: body.model ?? 'scripted', status: 'in_progress', output: [],
    };
    const done = { ...base, status: 'completed', output: items, usage };
    if (!body.stream) return sendJson(response, done);
    const raw = openStream(response);
    let sequence = 0;
    const send = (event) => raw({ ...event, sequence_number: sequence++ });
    send({ type: 'response.created', response: base });
    items.forEach((item, index) => {
      send({ type: 'response.output_item.added', output_index: index, item });
      if (item.type === 'message') {
        send({ type: 'response.output_text.delta', item_id: item.id, output_index: index, content_index: 0, delta: item.content[0].text });
      }
      send({ type: 'response.output_item.done', output_index: index, item });
    });
    send({ type: 'response.completed', response: done });
    response.end();
  },
};

const chat = {
  name: 'chat',
  path: '/chat/completions',
  tools(body) {
    const functions = (body.tools ?? []).filter((tool) => tool.function);
    return new Map(functions.map(({ function: tool }) => [tool.name, { schema: tool.parameters }]));
  },
  answer(response, body, step) {
    const said = spoken(step);
    const call = step.call && {
      index: 0, id: id('call_'), type: 'function', function: { name: step.call.name, arguments: JSON.stringify(step.args) },
    };
    const message = { role: 'assistant', content: said ?? null, ...(call ? { tool_calls: [call] } : {}) };
    const finish = call ? 'tool_calls' : 'stop';
    const { input, output } = counts(step);
    const usage = { prompt_tokens: input, completion_tokens: output, total_tokens: input + output };
    const base = { id: id('chatcmpl-'), created: Math.floor(Date.now() / 1000), model: body.model ?? 'scripted' };
    if (!body.stream) {
      return sendJson(response, { ...base, object: 'chat.completion', choices: [{ index: 0, message, finish_reason: finish }], usage });
    }
    response.writeHead(200, { 'content-type': 'text/event-stream', connection: 'close' });
    const send = (choices, more = {}) => {
      response.write(`data: ${JSON.stringify({ ...base, object: 'chat.completion.chunk', choices, ...more })}\n\n`);
    };
    send([{ index: 0, delta: message, finish_reason: null }]);
    send([{ index: 0, delta: {}, finish_reason: finish }]);
    send([], { usage });
    response.end('data: [DONE]\n\n');
  },
};

const DIALECTS = [anthropic, responses, chat];
