// What each host accepts from a hook, as its documentation and runs of it say; anything else is a fault. Hosts reject
// unknown keys, show what they do not understand to the model or the person, or deny the tool.
//
// `prompt` makes the native payloads that begin a session and ask for what is known, for the check that memory comes
// out in the host's own shape; `told` takes the context out of an answer.

import { join } from 'node:path';

import { write } from './lab.mjs';

const EMPTY = (out) => out === '';

/** Whether an object has these keys and no others; keys ending in `?` may be missing. */
function hasOnly(value, keys) {
  if (!value || typeof value !== 'object' || Array.isArray(value)) return false;
  const allowed = keys.map((key) => key.replace('?', ''));
  return Object.keys(value).every((key) => allowed.includes(key)) && keys.every((key) => key.endsWith('?') || key in value);
}

function json(out) {
  try {
    return JSON.parse(out);
  } catch {
    return undefined;
  }
}

/** `{"hookSpecificOutput": {"hookEventName", "additionalContext"}}`, only where the host takes a context. */
function hookSpecific(events) {
  return (out, event) => {
    if (EMPTY(out)) return true;
    const value = json(out);
    const inner = value?.hookSpecificOutput;
    return events.includes(event) && hasOnly(value, ['hookSpecificOutput']) && hasOnly(inner, ['hookEventName', 'additionalContext'])
      && inner.hookEventName === event && typeof inner.additionalContext === 'string';
  };
}

const specific = (out) => json(out)?.hookSpecificOutput?.additionalContext;

const CURSOR = {
  sessionStart: (value) => hasOnly(value, ['env?', 'additional_context?']),
  beforeSubmitPrompt: (value) => value.continue === true && hasOnly(value, ['continue', 'additional_context?']),
  preToolUse: (value) => value.permission === 'allow' && hasOnly(value, ['permission']),
  subagentStart: (value) => value.permission === 'allow' && hasOnly(value, ['permission']),
};

const ANTIGRAVITY = {
  PreInvocation: (value) => hasOnly(value, ['injectSteps?'])
    && (value.injectSteps ?? []).every((step) => hasOnly(step, ['ephemeralMessage']) && typeof step.ephemeralMessage === 'string'),
  PreToolUse: (value) => value.decision === 'allow' && hasOnly(value, ['decision']),
  Stop: (value) => hasOnly(value, ['decision?']) && (value.decision ?? 'allow') === 'allow',
};

/** Every host whose hooks are commands, by its id. */
export const ANSWERS = {
  'claude-code': {
    allows: hookSpecific(['SessionStart', 'UserPromptSubmit', 'SubagentStart', 'PreToolUse', 'PostToolUse', 'PostToolUseFailure']),
    prompt: (lab, cwd, text, id) => [['UserPromptSubmit', { session_id: id, transcript_path: join(lab.root, 'none.jsonl'), cwd, hook_event_name: 'UserPromptSubmit', prompt: text }]],
    told: specific,
  },
  codex: {
    allows: hookSpecific(['SessionStart', 'UserPromptSubmit', 'SubagentStart']),
    prompt: (_lab, cwd, text, id) => [['UserPromptSubmit', { session_id: id, turn_id: 't1', transcript_path: null, cwd, hook_event_name: 'UserPromptSubmit', model: 'scripted', permission_mode: 'default', prompt: text }]],
    told: specific,
  },
  cursor: {
    allows: (out, event) => EMPTY(out) || (json(out) && (CURSOR[event] ?? ((value) => hasOnly(value, [])))(json(out))),
    prompt: (_lab, cwd, text, id) => [['beforeSubmitPrompt', { conversation_id: id, generation_id: 'g1', model: 'scripted', hook_event_name: 'beforeSubmitPrompt', cursor_version: '3.20.17', workspace_roots: [cwd], user_email: null, transcript_path: null, prompt: text, attachments: [] }]],
    told: (out) => json(out)?.additional_context,
  },
  kimi: {
    // Whatever is printed at a prompt goes to the model as it stands, even `{}`; elsewhere it goes nowhere.
    allows: (out, event) => EMPTY(out) || (event === 'UserPromptSubmit' && !/^\s*[{[]/.test(out)),
    prompt: (_lab, cwd, text, id) => [['UserPromptSubmit', { hook_event_name: 'UserPromptSubmit', session_id: `session_${id}`, cwd, client_type: 'kimi_code_cli', prompt: [{ type: 'text', text }], is_steer: false }]],
    told: (out) => out,
  },
  antigravity: {
    // An empty answer is an error, and before a tool it denies the tool.
    allows: (out, event) => json(out) !== undefined && (ANTIGRAVITY[event] ?? ((value) => hasOnly(value, [])))(json(out)),
    prompt(lab, cwd, text, id) {
      const transcriptPath = join(lab.root, `antigravity-${id}.jsonl`);
      const request = `<USER_REQUEST>\n${text}\n</USER_REQUEST>\n<ADDITIONAL_METADATA>\nThe current local time is: noon.\n</ADDITIONAL_METADATA>`;
      write(transcriptPath, `${JSON.stringify({ step_index: 0, source: 'USER_EXPLICIT', type: 'USER_INPUT', status: 'DONE', created_at: '2026-12-01T10:00:00Z', content: request })}\n`);
      const payload = { conversationId: id, workspacePaths: [cwd], transcriptPath, artifactDirectoryPath: lab.root, invocationNum: 0, initialNumSteps: 1 };
      // The text lasts for one call of the model, so the second call of the turn must have it too.
      return [['PreInvocation', payload], ['PreInvocation', { ...payload, invocationNum: 1, initialNumSteps: 3 }]];
    },
    told: (out) => json(out)?.injectSteps?.[0]?.ephemeralMessage,
  },
};
