// What one process of the host has to keep for its sessions: the recalled block, the folder, a resumed handoff, and the
// messages of the last turn, since the host gives them away nowhere else.

export interface About {
  sessionId?: string | undefined;
  sessionKey?: string | undefined;
  agentId?: string | undefined;
  workspaceDir?: string | undefined;
}

/** Sessions that are remembered at most; the oldest go first. */
const MAX_SESSIONS = 100;
/** Sessions whose messages are remembered at most. */
const MAX_HELD = 8;

interface Session {
  block?: string;
  folder?: string;
  resumed?: string;
}

export class Sessions {
  readonly #sessions = new Map<string, Session>();
  readonly #messages = new Map<string, unknown[]>();

  /** What the session is shown; empty when that is nothing, `undefined` when it is not known yet. */
  block(id: string): string | undefined {
    return this.#sessions.get(id)?.block;
  }

  keepBlock(id: string, block: string): void {
    this.#of(id).block = block;
  }

  folder(id: string): string | undefined {
    return this.#sessions.get(id)?.folder;
  }

  keepFolder(id: string, folder: string | undefined): void {
    if (folder) this.#of(id).folder = folder;
  }

  /** A handoff that the session's next prompt gets, once. */
  keepResumed(id: string, text: string): void {
    this.#of(id).resumed = text;
  }

  takeResumed(id: string): string {
    const session = this.#sessions.get(id);
    const text = session?.resumed ?? "";
    if (session) delete session.resumed;
    return text;
  }

  messages(about: About): unknown[] | undefined {
    return this.#messages.get(about.sessionId ?? "") ?? this.#messages.get(about.sessionKey ?? "");
  }

  keepMessages({ sessionId, sessionKey }: About, messages: unknown[]): void {
    for (const id of [sessionId, sessionKey]) {
      if (!id) continue;
      this.#messages.delete(id);
      this.#messages.set(id, messages);
    }
    while (this.#messages.size > 2 * MAX_HELD) this.#messages.delete(this.#messages.keys().next().value as string);
  }

  forget(id: string): void {
    this.#sessions.delete(id);
    this.#messages.delete(id);
  }

  #of(id: string): Session {
    let session = this.#sessions.get(id);
    if (!session) {
      session = {};
      this.#sessions.set(id, session);
      if (this.#sessions.size > MAX_SESSIONS) this.#sessions.delete(this.#sessions.keys().next().value as string);
    }
    return session;
  }
}
