-- Which durable memories came of a request: a JSON list of ids; NULL for requests before this column.
ALTER TABLE event ADD COLUMN memories TEXT;
