-- Names, columns and meanings are those of the Mem0 plugins 0.3.x, so that their files open and continue.
CREATE TABLE IF NOT EXISTS events (
    id INTEGER PRIMARY KEY AUTOINCREMENT,
    repo_id TEXT NOT NULL,
    app_id TEXT NOT NULL,
    session_id TEXT NOT NULL,
    created_at TEXT NOT NULL,
    kind TEXT NOT NULL,
    payload_json TEXT NOT NULL,
    flush_id TEXT
);
CREATE INDEX IF NOT EXISTS events_session_idx ON events(repo_id, session_id, flush_id, id);

-- Ours: finding what no packet has taken must not read every event.
CREATE INDEX IF NOT EXISTS events_unsent_idx ON events(repo_id, session_id, id) WHERE flush_id IS NULL;

CREATE TABLE IF NOT EXISTS session_scopes (
    session_id TEXT PRIMARY KEY,
    repo_id TEXT NOT NULL,
    app_id TEXT NOT NULL,
    root TEXT NOT NULL,
    branch TEXT NOT NULL,
    head_sha TEXT NOT NULL,
    created_at TEXT NOT NULL,
    directory TEXT NOT NULL DEFAULT '',
    project_id TEXT
);

CREATE TABLE IF NOT EXISTS flushes (
    packet_id TEXT PRIMARY KEY,
    repo_id TEXT NOT NULL,
    app_id TEXT NOT NULL,
    session_id TEXT NOT NULL,
    reason TEXT NOT NULL,
    event_start INTEGER NOT NULL,
    event_end INTEGER NOT NULL,
    status TEXT NOT NULL,
    episode_event_id TEXT,
    semantic_event_id TEXT,
    error TEXT,
    attempts INTEGER NOT NULL DEFAULT 0,
    created_at TEXT NOT NULL,
    updated_at TEXT NOT NULL,
    lease_owner TEXT,
    lease_until TEXT
);

CREATE TABLE IF NOT EXISTS retrievals (
    session_id TEXT NOT NULL,
    repo_id TEXT NOT NULL,
    memory_id TEXT NOT NULL,
    injected_at TEXT NOT NULL,
    rank INTEGER,
    score REAL,
    memory_text TEXT,
    context_chars INTEGER NOT NULL DEFAULT 0,
    PRIMARY KEY (session_id, repo_id, memory_id)
);

CREATE TABLE IF NOT EXISTS operations (
    id INTEGER PRIMARY KEY AUTOINCREMENT,
    created_at TEXT NOT NULL,
    repo_id TEXT NOT NULL,
    session_id TEXT NOT NULL,
    operation TEXT NOT NULL,
    duration_ms REAL NOT NULL,
    success INTEGER NOT NULL,
    item_count INTEGER NOT NULL DEFAULT 0,
    request_chars INTEGER NOT NULL DEFAULT 0,
    response_chars INTEGER NOT NULL DEFAULT 0,
    error TEXT
);

CREATE TABLE IF NOT EXISTS sidekick_runs (
    repo_id TEXT NOT NULL,
    session_id TEXT NOT NULL,
    agent_id TEXT NOT NULL,
    agent_type TEXT NOT NULL,
    started_at TEXT NOT NULL,
    stopped_at TEXT,
    transcript_path TEXT,
    context_chars INTEGER NOT NULL DEFAULT 0,
    final_message TEXT,
    PRIMARY KEY (repo_id, session_id, agent_id)
);
CREATE INDEX IF NOT EXISTS sidekick_runs_repo_idx ON sidekick_runs(repo_id, started_at);

CREATE TABLE IF NOT EXISTS settings (
    key TEXT PRIMARY KEY,
    value TEXT NOT NULL,
    updated_at TEXT NOT NULL
);

DROP TABLE IF EXISTS sidekick_calls;
DROP TABLE IF EXISTS sidekick_snapshots;
DROP TABLE IF EXISTS sidekick_state;
DROP TABLE IF EXISTS sidekick_packets;
