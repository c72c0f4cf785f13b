// What is known of the host's running sessions: whose they are, and what was said in the open turn.

import type { Message } from "../../common/src/protocol.ts";

/** Messages of one turn that are held at most; the oldest go first. */
const MAX_MESSAGES = 400;
/** Sessions that are remembered at most; the oldest go first. */
const MAX_SESSIONS = 500;

interface Session {
  isChild: boolean;
  /** It was created here, and that was not told yet. */
  isNew: boolean;
  /** The session's summary is being written: what the model says now is the host's. */
  isCompacting: boolean;
  hasFailed: boolean;
  turn: Message[];
}

export class Sessions {
  readonly #sessions = new Map<string, Session>();

  of(id: string): Session {
    let session = this.#sessions.get(id);
    if (!session) {
      session = { isChild: false, isNew: false, isCompacting: false, hasFailed: false, turn: [] };
      this.#sessions.set(id, session);
      const oldest = this.#sessions.keys().next();
      if (this.#sessions.size > MAX_SESSIONS && !oldest.done) this.#sessions.delete(oldest.value);
    }
    return session;
  }

  /** Tells, once, whether a session was created here. */
  began(id: string): boolean {
    const session = this.of(id);
    const isNew = session.isNew && !session.isChild;
    session.isNew = false;
    return isNew;
  }

  say(id: string, role: "user" | "assistant", content: string): void {
    const session = this.of(id);
    if (session.isChild || session.isCompacting || !content.trim()) return;
    session.turn.push({ role, content });
    if (session.turn.length > MAX_MESSAGES) session.turn.shift();
  }

  /** Ends the open turn and returns what was said in it. */
  endTurn(id: string): { messages: Message[]; outcome: string } {
    const session = this.of(id);
    const ended = { messages: session.turn, outcome: session.hasFailed ? "failed" : "completed" };
    session.turn = [];
    session.hasFailed = false;
    return ended;
  }

  forget(id: string): void {
    this.#sessions.delete(id);
  }

  /** Main sessions that said something or were seen here. */
  main(): string[] {
    return [...this.#sessions].filter(([, session]) => !session.isChild).map(([id]) => id);
  }
}
