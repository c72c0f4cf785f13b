-- Memories of the embedded engine. Rows are the truth; index segments and `pending` are derived from them.

CREATE TABLE meta (
    name  TEXT PRIMARY KEY,
    value TEXT NOT NULL
) WITHOUT ROWID;

-- Whom memories belong to. An empty text is "nobody", never "anybody".
CREATE TABLE owner (
    id       INTEGER PRIMARY KEY,
    user_id  TEXT NOT NULL,
    agent_id TEXT NOT NULL,
    app_id   TEXT NOT NULL,
    UNIQUE (user_id, agent_id, app_id)
);

-- What the memories of one packet share, so that a filter is asked once and not once a row.
CREATE TABLE facet (
    id         INTEGER PRIMARY KEY,
    owner      INTEGER NOT NULL REFERENCES owner (id),
    run_id     TEXT NOT NULL,
    categories TEXT NOT NULL, -- JSON list; empty when none are assigned
    metadata   TEXT NOT NULL, -- JSON object
    UNIQUE (owner, run_id, categories, metadata)
);

CREATE TABLE memory (
    seq           INTEGER PRIMARY KEY AUTOINCREMENT, -- the order of arrival; clocks may lie
    id            TEXT NOT NULL UNIQUE,
    facet         INTEGER NOT NULL REFERENCES facet (id),
    is_durable    INTEGER NOT NULL,
    is_source     INTEGER NOT NULL DEFAULT 0,        -- a durable memory came out of it
    role          TEXT NOT NULL,
    text          TEXT NOT NULL,
    hash          INTEGER NOT NULL,                  -- of the normalized text
    rule          TEXT,
    lane          TEXT,
    confidence    REAL,
    sources       TEXT,                              -- JSON list of ids
    superseded_by TEXT,
    created_at    INTEGER NOT NULL,                  -- microseconds since 1970
    updated_at    INTEGER NOT NULL
);
CREATE INDEX memory_facet ON memory (facet);
CREATE INDEX memory_durable ON memory (hash) WHERE is_durable = 1;

-- What happened to a memory after it was added. A deleted memory's texts are erased here too.
CREATE TABLE history (
    id         INTEGER PRIMARY KEY,
    memory     TEXT NOT NULL,
    event      TEXT NOT NULL,
    old_text   TEXT,
    new_text   TEXT,
    created_at INTEGER NOT NULL
);
CREATE INDEX history_memory ON history (memory);

-- Accepted requests, by the caller's key.
CREATE TABLE event (
    id         TEXT PRIMARY KEY,
    key        TEXT UNIQUE,
    results    INTEGER NOT NULL,
    created_at INTEGER NOT NULL
) WITHOUT ROWID;

-- Rows the current segment does not show as they are: their index entry, or NULL for deleted rows.
CREATE TABLE pending (
    rev INTEGER PRIMARY KEY AUTOINCREMENT,
    seq INTEGER NOT NULL UNIQUE,
    doc BLOB
);

-- Exact words and phrases, and what is searched while there is no usable segment.
CREATE VIRTUAL TABLE words USING fts5 (text, content = 'memory', content_rowid = 'seq', tokenize = 'unicode61');
INSERT INTO words (words, rank) VALUES ('secure-delete', 1);
